// run: copy_double_buffer block=64 args(in=int32[512]:iota, out=int32[64]:zeros) expect=clean
// run: copy_wait_too_few block=64 args(in=int32[512]:iota, out=int32[64]:zeros) expect=race lines 34,41 lines 37,41 space shared
// run: copy_wait_after_barrier block=64 args(in=int32[512]:iota, out=int32[64]:zeros) expect=race lines 53,57 space shared
// run: copy_no_barrier_before_reuse block=64 args(in=int32[512]:iota, out=int32[64]:zeros) expect=race lines 68,72 space shared
// run: copy_own_element block=64 args(in=int32[64]:iota, out=int32[64]:zeros) expect=clean
// run: copy_own_element_no_wait block=64 args(in=int32[64]:iota, out=int32[64]:zeros) expect=race lines 90,92 space shared
// run: copy_sixteen_bytes block=32 args(in=int32[128]:iota, out=int32[32]:zeros) expect=clean
//
// Asynchronous copies to shared memory: the thread that copies waits for its groups, the barrier shows the others.
#include <cuda_pipeline_primitives.h>

__global__ void copy_double_buffer(const int* in, int* out) {
    __shared__ int s[2][64];
    const int t = threadIdx.x;
    int sum = 0;
    __pipeline_memcpy_async(&s[0][t], &in[t], 4);
    __pipeline_commit();
    for (int k = 0; k < 8; k++) {
        if (k < 7) __pipeline_memcpy_async(&s[(k + 1) & 1][t], &in[(k + 1) * 64 + t], 4);
        __pipeline_commit();
        __pipeline_wait_prior(1);
        __syncthreads();
        sum += s[k & 1][63 - t];
        __syncthreads();
    }
    out[t] = sum;
}

// Two groups may be in flight, and the older one is the one that is read.
__global__ void copy_wait_too_few(const int* in, int* out) {
    __shared__ int s[3][64];
    const int t = threadIdx.x;
    int sum = 0;
    __pipeline_memcpy_async(&s[0][t], &in[t], 4);
    __pipeline_commit();
    for (int k = 0; k < 8; k++) {
        if (k < 7) __pipeline_memcpy_async(&s[(k + 1) % 3][t], &in[(k + 1) * 64 + t], 4);
        __pipeline_commit();
        __pipeline_wait_prior(2);
        __syncthreads();
        sum += s[k % 3][63 - t];
        __syncthreads();
    }
    out[t] = sum;
}

// Each thread waits for its own copies only after the barrier: it may read those of others too early.
__global__ void copy_wait_after_barrier(const int* in, int* out) {
    __shared__ int s[64];
    const int t = threadIdx.x;
    int sum = 0;
    for (int k = 0; k < 8; k++) {
        __pipeline_memcpy_async(&s[t], &in[k * 64 + t], 4);
        __pipeline_commit();
        __syncthreads();
        __pipeline_wait_prior(0);
        sum += s[63 - t];
        __syncthreads();
    }
    out[t] = sum;
}

__global__ void copy_no_barrier_before_reuse(const int* in, int* out) {
    __shared__ int s[64];
    const int t = threadIdx.x;
    int sum = 0;
    for (int k = 0; k < 8; k++) {
        __pipeline_memcpy_async(&s[t], &in[k * 64 + t], 4);
        __pipeline_commit();
        __pipeline_wait_prior(0);
        __syncthreads();
        sum += s[63 - t];
    }
    out[t] = sum;
}

__global__ void copy_own_element(const int* in, int* out) {
    __shared__ int s[64];
    const int t = threadIdx.x;
    __pipeline_memcpy_async(&s[t], &in[t], 4);
    __pipeline_commit();
    __pipeline_wait_prior(0);
    out[t] = s[t] + 1;
}

// A copy is not ordered before what its own thread does, until that waits.
__global__ void copy_own_element_no_wait(const int* in, int* out) {
    __shared__ int s[64];
    const int t = threadIdx.x;
    __pipeline_memcpy_async(&s[t], &in[t], 4);
    __pipeline_commit();
    out[t] = s[t] + 1;
}

__global__ void copy_sixteen_bytes(const int* in, int* out) {
    __shared__ __align__(16) int s[128];
    const int t = threadIdx.x;
    __pipeline_memcpy_async(&s[4 * t], &in[4 * t], 16);
    __pipeline_commit();
    __pipeline_wait_prior(0);
    __syncthreads();
    out[t] = s[t] + s[127 - t];
}
