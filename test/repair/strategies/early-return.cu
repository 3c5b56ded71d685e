// expect: rotate repaired +1 -0
// expect: reversed repaired +1 -0
// expect: two_returns repaired +1 -0
//
// Threads return before a barrier of the grid, which waits for all of them: the return becomes a guard, and the barrier
// is outside of it.

#define _CG_LIMIT_INCLUDED_DEPENDENCIES // compiles in a third of the time
#include <cooperative_groups.h>
namespace cg = cooperative_groups;

// selvage: block=64 grid=4 cooperative arg(n=200)
__global__ void rotate(const int* a, int* b, int* c, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    // the element that the neighbour reads
    b[i] = a[i];

    c[i] = b[(i + 1) % n];
}

// selvage: block=64 grid=4 cooperative arg(n=200)
__global__ void reversed(float* a, float* b, int n) {
    __shared__ float s[64];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    s[threadIdx.x] = 0;
    if (i >= n) {
        return;
    }
    float mine = a[n - 1 - i] + s[threadIdx.x];
    a[i] = mine;
    b[i] = 2 * mine;
}

// selvage: block=64 grid=4 cooperative arg(n=200)
__global__ void two_returns(const float* a, float* b, float* c, int n, float least) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    if (a[i] < least) return;
    __shared__ float half;
    if (threadIdx.x == 0 && n < 0) half = 0.5f;
    b[i] = a[i];
    c[i] = b[n - 1 - i];
}
