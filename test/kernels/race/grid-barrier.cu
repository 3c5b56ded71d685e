// expect: rotate race=proved divergence=proved
// expect: rotate_block_barrier race=race divergence=proved finding race/global lines 21,23
// expect: relax race=proved divergence=proved
// expect: relax_one_barrier race=race divergence=proved finding race/global lines 43,46
//
// A barrier of the grid orders threads of different blocks, in every iteration of a loop around it; one of the block
// orders none of them.

#include <cooperative_groups.h>

// selvage: arg(n=256)
__global__ void rotate(const int* a, int* b, int* c, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    b[i] = a[i];
    cooperative_groups::this_grid().sync();
    c[i] = b[(i + 1) % n];
}

// selvage: block=64 grid=4 arg(n=256)
__global__ void rotate_block_barrier(const int* a, int* b, int* c, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x; b[i] = a[i];
    __syncthreads();
    c[i] = b[(i + 1) % n];
}

// selvage: arg(n=256)
__global__ void relax(float* from, float* to, int n, int rounds) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    for (int k = 0; k < rounds; ++k) {
        to[i] = 0.5f * (from[i] + from[(i + 1) % n]);
        cooperative_groups::this_grid().sync();
        from[i] = to[i];
        cooperative_groups::this_grid().sync();
    }
}

// selvage: block=32 grid=8 arg(n=256) arg(rounds=3)
__global__ void relax_one_barrier(float* from, float* to, int n, int rounds) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int next = (i + 1) % n;
    for (int k = 0; k < rounds; ++k) {
        // The next iteration reads an element that another block still writes in this one.
        to[i] = from[i] + from[next];
        cooperative_groups::this_grid().sync();
        // No barrier before the next iteration.
        from[i] = to[i];
    }
}
