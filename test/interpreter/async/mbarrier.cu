// run: mbarrier_hand_over block=64 args(out=int32[64]:zeros) expect=clean
// run: mbarrier_no_wait block=64 args(out=int32[64]:zeros) expect=race lines 30,32 space shared; uninitialised line 32
// run: mbarrier_rounds block=64 args(out=int32[256]:zeros) expect=clean
// run: mbarrier_half_arrives block=64 args(out=int32[64]:zeros) expect=race lines 56,60 space shared; uninitialised line 60
// run: mbarrier_copy block=64 args(in=int32[64]:iota, out=int32[64]:zeros) expect=clean
// run: mbarrier_copy_arrive_too_early block=64 args(in=int32[64]:iota, out=int32[64]:zeros) expect=race lines 83,86 space shared
//
// Barrier objects in shared memory: arrivals are released to those that wait for the phase.
#include <cuda_awbarrier_primitives.h>
#include <cuda_pipeline_primitives.h>

__global__ void mbarrier_hand_over(int* out) {
    __shared__ __mbarrier_t bar;
    __shared__ int s[64];
    const int t = threadIdx.x;
    if (t == 0) __mbarrier_init(&bar, 64);
    __syncthreads();
    s[t] = 2 * t;
    const __mbarrier_token_t token = __mbarrier_arrive(&bar);
    while (!__mbarrier_test_wait(&bar, token)) {}
    out[t] = s[63 - t];
}

__global__ void mbarrier_no_wait(int* out) {
    __shared__ __mbarrier_t bar;
    __shared__ int s[64];
    const int t = threadIdx.x;
    if (t == 0) __mbarrier_init(&bar, 64);
    __syncthreads();
    s[t] = 2 * t;
    __mbarrier_arrive(&bar);
    out[t] = s[63 - t];
}

__global__ void mbarrier_rounds(int* out) {
    __shared__ __mbarrier_t bar;
    __shared__ int s[2][64];
    const int t = threadIdx.x;
    if (t == 0) __mbarrier_init(&bar, 64);
    __syncthreads();
    for (int k = 0; k < 4; k++) {
        s[k & 1][t] = 10 * k + t;
        const __mbarrier_token_t token = __mbarrier_arrive(&bar);
        while (!__mbarrier_test_wait(&bar, token)) {}
        out[k * 64 + t] = s[k & 1][63 - t];
    }
}

// The lower warp waits only for its own arrivals.
__global__ void mbarrier_half_arrives(int* out) {
    __shared__ __mbarrier_t bar;
    __shared__ int s[64];
    const int t = threadIdx.x;
    if (t == 0) __mbarrier_init(&bar, 32);
    __syncthreads();
    s[t] = 2 * t;
    if (t < 32) {
        const __mbarrier_token_t token = __mbarrier_arrive(&bar);
        while (!__mbarrier_test_wait(&bar, token)) {}
        out[t] = s[63 - t];
    }
}

__global__ void mbarrier_copy(const int* in, int* out) {
    __shared__ __mbarrier_t bar;
    __shared__ int s[64];
    const int t = threadIdx.x;
    if (t == 0) __mbarrier_init(&bar, 64);
    __syncthreads();
    __pipeline_memcpy_async(&s[t], &in[t], 4);
    __pipeline_arrive_on(&bar);
    const __mbarrier_token_t token = __mbarrier_arrive(&bar);
    while (!__mbarrier_test_wait(&bar, token)) {}
    out[t] = s[63 - t];
}

__global__ void mbarrier_copy_arrive_too_early(const int* in, int* out) {
    __shared__ __mbarrier_t bar;
    __shared__ int s[64];
    const int t = threadIdx.x;
    if (t == 0) __mbarrier_init(&bar, 64);
    __syncthreads();
    __pipeline_memcpy_async(&s[t], &in[t], 4);
    const __mbarrier_token_t token = __mbarrier_arrive(&bar);
    while (!__mbarrier_test_wait(&bar, token)) {}
    out[t] = s[63 - t];
}
