// expect: even_blocks race=possible divergence=divergent finding barrier/divergent lines 12
// expect: all_blocks race=proved divergence=proved
//
// A barrier of the grid waits for every block.

#include <cooperative_groups.h>

// selvage: block=32 grid=4
__global__ void even_blocks(int* a) {
    a[blockIdx.x * blockDim.x + threadIdx.x] = 1;
    if (blockIdx.x % 2 == 0)
        cooperative_groups::this_grid().sync();
}

// selvage: block=32 grid=4
__global__ void all_blocks(int* a, int n) {
    a[blockIdx.x * blockDim.x + threadIdx.x] = 1;
    if (n > 0)
        cooperative_groups::this_grid().sync();
}
