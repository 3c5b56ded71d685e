// expect: not_awaited race=race divergence=possible finding race/shared lines 22,24
// expect: polled_once race=race divergence=possible finding race/shared lines 34,37
// expect: counts_one_warp race=race divergence=possible finding race/shared lines 47,51
// expect: old_token race=race divergence=possible finding race/shared lines 64,67
// expect: one_buffer race=race divergence=proved finding race/shared lines 78,81
// expect: written_before_waiting race=race divergence=proved finding race/shared lines 93,95
// expect: copies_not_announced race=race divergence=proved finding race/shared lines 105,108
// expect: announced_too_early race=race divergence=proved finding race/shared lines 119,122
// expect: used_before_waiting race=race divergence=proved finding race/shared lines 132,135
//
// Barriers in shared memory that do not order what they seem to.
#include <cuda_awbarrier_primitives.h>
#include <cuda_pipeline_primitives.h>

// selvage: block=64 grid=1
__global__ void not_awaited(int* out) {
    __shared__ int s[64];
    __shared__ __mbarrier_t bar;
    const int t = threadIdx.x;
    if (t == 0) __mbarrier_init(&bar, 64);
    __syncthreads();
    s[t] = t;
    __mbarrier_arrive(&bar);
    out[t] = s[63 - t];
}

// selvage: block=64 grid=1
__global__ void polled_once(int* out) {
    __shared__ int s[64];
    __shared__ __mbarrier_t bar;
    const int t = threadIdx.x;
    if (t == 0) __mbarrier_init(&bar, 64);
    __syncthreads();
    s[t] = t;
    const __mbarrier_token_t token = __mbarrier_arrive(&bar);
    __mbarrier_test_wait(&bar, token);
    out[t] = s[63 - t];
}

// selvage: block=64 grid=1
__global__ void counts_one_warp(int* out) {
    __shared__ int s[64];
    __shared__ __mbarrier_t bar;
    const int t = threadIdx.x;
    if (t == 0) __mbarrier_init(&bar, 32);
    __syncthreads();
    s[t] = t;
    if (t < 32) {
        const __mbarrier_token_t token = __mbarrier_arrive(&bar);
        while (!__mbarrier_test_wait(&bar, token)) {}
        out[t] = s[63 - t];
    }
}

// selvage: block=64 grid=1
__global__ void old_token(int* out) {
    __shared__ int s[64];
    __shared__ __mbarrier_t bar;
    const int t = threadIdx.x;
    if (t == 0) __mbarrier_init(&bar, 64);
    __syncthreads();
    const __mbarrier_token_t token = __mbarrier_arrive(&bar);
    while (!__mbarrier_test_wait(&bar, token)) {}
    s[t] = t;
    __mbarrier_arrive(&bar);
    while (!__mbarrier_test_wait(&bar, token)) {}
    out[t] = s[63 - t];
}

// selvage: block=64 grid=1 arg(n=4)
__global__ void one_buffer(int* out, int n) {
    __shared__ int s[64];
    __shared__ __mbarrier_t bar;
    const int t = threadIdx.x;
    if (t == 0) __mbarrier_init(&bar, 64);
    __syncthreads();
    for (int k = 0; k < n; k++) {
        s[t] = k + t;
        const __mbarrier_token_t token = __mbarrier_arrive(&bar);
        while (!__mbarrier_test_wait(&bar, token)) {}
        out[t] += s[63 - t];
    }
}

// selvage: block=64 grid=1
__global__ void written_before_waiting(int* out) {
    __shared__ int s[64];
    __shared__ __mbarrier_t bar;
    const int t = threadIdx.x;
    if (t == 0) __mbarrier_init(&bar, 64);
    __syncthreads();
    const __mbarrier_token_t token = __mbarrier_arrive(&bar);
    s[t] = t;
    while (!__mbarrier_test_wait(&bar, token)) {}
    out[t] = s[63 - t];
}

// selvage: block=64 grid=1
__global__ void copies_not_announced(const int* in, int* out) {
    __shared__ int s[64];
    __shared__ __mbarrier_t bar;
    const int t = threadIdx.x;
    if (t == 0) __mbarrier_init(&bar, 64);
    __syncthreads();
    __pipeline_memcpy_async(&s[t], &in[t], 4);
    const __mbarrier_token_t token = __mbarrier_arrive(&bar);
    while (!__mbarrier_test_wait(&bar, token)) {}
    out[t] = s[63 - t];
}

// selvage: block=64 grid=1
__global__ void announced_too_early(const int* in, int* out) {
    __shared__ int s[64];
    __shared__ __mbarrier_t bar;
    const int t = threadIdx.x;
    if (t == 0) __mbarrier_init(&bar, 64);
    __syncthreads();
    __pipeline_arrive_on(&bar);
    __pipeline_memcpy_async(&s[t], &in[t], 4);
    const __mbarrier_token_t token = __mbarrier_arrive(&bar);
    while (!__mbarrier_test_wait(&bar, token)) {}
    out[t] = s[63 - t];
}

// selvage: block=64 grid=1
__global__ void used_before_waiting(const int* in, int* out) {
    __shared__ int s[64];
    __shared__ __mbarrier_t bar;
    const int t = threadIdx.x;
    if (t == 0) __mbarrier_init(&bar, 64);
    __syncthreads();
    __pipeline_memcpy_async(&s[t], &in[t], 4);
    __pipeline_arrive_on(&bar);
    const __mbarrier_token_t token = __mbarrier_arrive(&bar);
    out[t] = s[t];
    while (!__mbarrier_test_wait(&bar, token)) {}
}
