// expect: not_awaited race=race divergence=possible finding race/shared lines 24,26
// expect: polled_once race=race divergence=possible finding race/shared lines 36,39
// expect: counts_one_warp race=race divergence=possible finding race/shared lines 49,53
// expect: old_token race=race divergence=possible finding race/shared lines 66,69
// expect: one_buffer race=race divergence=proved finding race/shared lines 80,83
// expect: written_before_waiting race=race divergence=proved finding race/shared lines 95,97
// expect: copies_not_announced race=race divergence=proved finding race/shared lines 107,110
// expect: announced_too_early race=race divergence=proved finding race/shared lines 121,124
// expect: used_before_waiting race=race divergence=proved finding race/shared lines 134,137
// expect: set_up_too_late race=race divergence=possible finding race/shared lines 147,149
// expect: ended_too_early race=race divergence=possible finding race/shared lines 162,163
//
// Barriers in shared memory that do not give the apparent order.
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

// The others may arrive before thread 0 has set the barrier up.
// selvage: block=64 grid=1
__global__ void set_up_too_late(int* out) {
    __shared__ int s[64];
    __shared__ __mbarrier_t bar;
    const int t = threadIdx.x;
    if (t == 0) __mbarrier_init(&bar, 64);
    s[t] = t;
    __mbarrier_arrive(&bar);
    __syncthreads();
    out[t] = s[63 - t];
}

// The last may still be looking at the barrier.
// selvage: block=64 grid=1
__global__ void ended_too_early(int* out) {
    __shared__ __mbarrier_t bar;
    const int t = threadIdx.x;
    if (t == 0) __mbarrier_init(&bar, 64);
    __syncthreads();
    const __mbarrier_token_t token = __mbarrier_arrive(&bar);
    while (!__mbarrier_test_wait(&bar, token)) {}
    if (t == 0) __mbarrier_inval(&bar);
    out[t] = t;
}
