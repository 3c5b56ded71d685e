// expect: rotate repaired +1 -1
// expect: rotate_by_group repaired +1 -1
// expect: exchange repaired +1 -1
// expect: jacobi repaired +1 -1
//
// A barrier of the block at a place where one of the grid is necessary.

#define _CG_LIMIT_INCLUDED_DEPENDENCIES // compiles in a third of the time
#include <cooperative_groups.h>
namespace cg = cooperative_groups;

// selvage: block=64 grid=4 cooperative arg(n=256)
__global__ void rotate(const int* a, int* b, int* c, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    b[i] = a[i];
    __syncthreads();
    c[i] = b[(i + 1) % n];
}

// selvage: block=64 grid=4 cooperative arg(n=256)
__global__ void rotate_by_group(const int* a, int* b, int* c, int n) {
    auto grid = cg::this_grid();
    auto block = cg::this_thread_block();
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    b[i] = a[i];
    block.sync();
    c[i] = b[(i + 1) % n];
}

// selvage: block=64 grid=4 cooperative
__global__ void exchange(int* a) {
    int i = blockIdx.x * 64 + threadIdx.x;
    int theirs = a[255 - i];
    __syncthreads();
    a[i] = theirs;
}

// selvage: block=32 grid=8 cooperative arg(n=256)
__global__ void jacobi(float* from, float* to, int n, int rounds) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    for (int k = 0; k < rounds; ++k) {
        to[i] = 0.5f * (from[i] + from[(i + 1) % n]);
        cg::this_grid().sync();
        from[i] = to[i];
        __syncthreads();
    }
}
