// expect: last_block_returns repaired +1 -1
// expect: some_threads_return repaired +1 -1
// expect: blocks_without_work_return repaired +1 -1
// expect: last_of_many repaired +1 -1
//
// Blocks that return never arrive at a barrier of the grid, and the others wait for them.

#define _CG_LIMIT_INCLUDED_DEPENDENCIES // compiles in a third of the time
#include <cooperative_groups.h>
namespace cg = cooperative_groups;

// selvage: block=64 grid=4 cooperative
__global__ void last_block_returns(int* a, int* b) {
    int i = blockIdx.x * 64 + threadIdx.x;
    a[i] = i;
    if (blockIdx.x == 3) return;
    cg::this_grid().sync();
    b[i] = a[i + 64];
}

// selvage: block=64 grid=4 cooperative
__global__ void some_threads_return(int* a, int* b, int n) {
    int i = blockIdx.x * 64 + threadIdx.x;
    if (i >= n) return;
    a[i] = i;
    cg::this_grid().sync();
    b[i] = a[n - 1 - i];
}

// selvage: block=64 grid=4 cooperative arg(n=100)
__global__ void blocks_without_work_return(int* a, int* b, int n) {
    int i = blockIdx.x * 64 + threadIdx.x;
    if (i >= n) return;
    a[i] = i;
    cg::this_grid().sync();
    b[i] = a[n - 1 - i];
}

// selvage: block=64 grid=300 cooperative
__global__ void last_of_many(int* a, int* b) {
    int i = blockIdx.x * 64 + threadIdx.x;
    a[i] = i;
    if (blockIdx.x == gridDim.x - 1) return;
    cg::this_grid().sync();
    b[i] = a[i + 64];
}
