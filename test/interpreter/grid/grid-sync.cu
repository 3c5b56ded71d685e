// run: grid_sync block=64 grid=3 args(data=int32[192]:zeros, out=int32[192]:zeros) expect=clean
// run: grid_sync_missing block=64 grid=3 args(data=int32[192]:zeros, out=int32[192]:zeros) expect=race lines 21,22 space global
// run: grid_sync_block_instead block=64 grid=3 args(data=int32[192]:zeros, out=int32[192]:zeros) expect=race lines 27,29 space global
// run: grid_reduce block=64 grid=4 args(in=int32[256]:iota, partial=int32[4]:zeros, out=int32[1]:zeros) expect=clean
// run: grid_stencil block=32 grid=3 args(a=int32[98]:iota, b=int32[98]:zeros) expect=clean
// run: grid_stencil_one_sync block=32 grid=3 args(a=int32[98]:iota, b=int32[98]:zeros) expect=race lines 64,66 space global
//
// A barrier of the whole grid: after it every block sees what any block did before.
#include <cooperative_groups.h>
namespace cg = cooperative_groups;

__global__ void grid_sync(int* data, int* out) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x, n = gridDim.x * blockDim.x;
    data[i] = 5 * i;
    cg::this_grid().sync();
    out[i] = data[n - 1 - i];
}

__global__ void grid_sync_missing(int* data, int* out) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x, n = gridDim.x * blockDim.x;
    data[i] = 5 * i;
    out[i] = data[n - 1 - i];
}

__global__ void grid_sync_block_instead(int* data, int* out) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x, n = gridDim.x * blockDim.x;
    data[i] = 5 * i;
    cg::this_thread_block().sync();
    out[i] = data[n - 1 - i];
}

__global__ void grid_reduce(const int* in, int* partial, int* out) {
    __shared__ int s[64];
    const int t = threadIdx.x;
    s[t] = in[blockIdx.x * 64 + t];
    __syncthreads();
    for (int d = 32; d > 0; d >>= 1) {
        if (t < d) s[t] += s[t + d];
        __syncthreads();
    }
    if (t == 0) partial[blockIdx.x] = s[0];
    cg::this_grid().sync();
    if (blockIdx.x == 0 && t == 0) {
        int sum = 0;
        for (int b = 0; b < gridDim.x; b++) sum += partial[b];
        *out = sum;
    }
}

__global__ void grid_stencil(int* a, int* b) {
    const int i = 1 + blockIdx.x * blockDim.x + threadIdx.x;
    for (int k = 0; k < 3; k++) {
        b[i] = a[i - 1] + a[i + 1];
        cg::this_grid().sync();
        a[i] = b[i];
        cg::this_grid().sync();
    }
}

// One step's writes race with the next step's reads.
__global__ void grid_stencil_one_sync(int* a, int* b) {
    const int i = 1 + blockIdx.x * blockDim.x + threadIdx.x;
    for (int k = 0; k < 3; k++) {
        b[i] = a[i - 1] + a[i + 1];
        cg::this_grid().sync();
        a[i] = b[i];
    }
}
