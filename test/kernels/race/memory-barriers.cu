// expect: by_token race=proved divergence=proved
// expect: by_token_in_rounds race=proved divergence=proved
// expect: by_parity race=proved divergence=proved
// expect: by_flipped_parity race=proved divergence=proved
// expect: work_before_waiting race=proved divergence=proved
// expect: barrier_object race=proved divergence=proved
// expect: copies_announced race=proved divergence=proved
// expect: copies_arrive race=proved divergence=proved
//
// Barriers in shared memory that synchronise the block: by token, by parity, as cuda::barrier, and with copies.
#include <cuda/barrier>
#include <cuda_awbarrier_primitives.h>
#include <cuda_pipeline_primitives.h>

typedef unsigned long long Word;

__device__ unsigned shared_address(const void* pointer) { return (unsigned)__cvta_generic_to_shared(pointer); }

__device__ void set_up(Word* barrier, unsigned count) {
    asm volatile("mbarrier.init.shared.b64 [%0], %1;" ::"r"(shared_address(barrier)), "r"(count) : "memory");
}

__device__ void arrive(Word* barrier) {
    asm volatile("{ .reg .b64 state; mbarrier.arrive.shared.b64 state, [%0]; }" ::"r"(shared_address(barrier)) : "memory");
}

// The copies that the thread has made so far arrive when they are complete.
__device__ void arrive_when_copied(Word* barrier) {
    asm volatile("cp.async.mbarrier.arrive.noinc.shared.b64 [%0];" ::"r"(shared_address(barrier)) : "memory");
}

__device__ void wait_for_parity(Word* barrier, unsigned parity) {
    asm volatile(
        "{ .reg .pred done;\n"
        "AGAIN: mbarrier.test_wait.parity.shared.b64 done, [%0], %1;\n"
        "@done bra BEHIND;\n"
        "bra AGAIN;\n"
        "BEHIND: }" ::"r"(shared_address(barrier)), "r"(parity) : "memory");
}

// selvage: block=64 grid=1
__global__ void by_token(int* out) {
    __shared__ int s[64];
    __shared__ __mbarrier_t bar;
    const int t = threadIdx.x;
    if (t == 0) __mbarrier_init(&bar, 64);
    __syncthreads();
    s[t] = t;
    const __mbarrier_token_t token = __mbarrier_arrive(&bar);
    while (!__mbarrier_test_wait(&bar, token)) {}
    out[t] = s[63 - t];
}

// selvage: block=64 grid=1
__global__ void by_token_in_rounds(int* out, int n) {
    __shared__ int s[2][64];
    __shared__ __mbarrier_t bar;
    const int t = threadIdx.x;
    if (t == 0) __mbarrier_init(&bar, 64);
    __syncthreads();
    for (int k = 0; k < n; k++) {
        s[k & 1][t] = k + t;
        const __mbarrier_token_t token = __mbarrier_arrive(&bar);
        while (!__mbarrier_test_wait(&bar, token)) {}
        out[t] += s[k & 1][63 - t];
    }
}

// selvage: block=64 grid=1
__global__ void by_parity(int* out, int n) {
    __shared__ int s[2][64];
    __shared__ Word bar;
    const int t = threadIdx.x;
    if (t == 0) set_up(&bar, 64);
    __syncthreads();
    for (int k = 0; k < n; k++) {
        s[k & 1][t] = k + t;
        arrive(&bar);
        wait_for_parity(&bar, k & 1);
        out[t] += s[k & 1][63 - t];
    }
}

// selvage: block=64 grid=1
__global__ void by_flipped_parity(int* out, int n) {
    __shared__ int s[2][64];
    __shared__ Word bar;
    const int t = threadIdx.x;
    if (t == 0) set_up(&bar, 64);
    __syncthreads();
    unsigned parity = 0;
    for (int k = 0; k < n; k++) {
        s[k & 1][t] = k + t;
        arrive(&bar);
        wait_for_parity(&bar, parity);
        parity ^= 1;
        out[t] += s[k & 1][63 - t];
    }
}

// selvage: block=64 grid=1
__global__ void work_before_waiting(int* out, int n) {
    __shared__ int s[2][64];
    __shared__ int own[64];
    __shared__ __mbarrier_t bar;
    const int t = threadIdx.x;
    if (t == 0) __mbarrier_init(&bar, 64);
    __syncthreads();
    for (int k = 0; k < n; k++) {
        s[k & 1][t] = k + t;
        const __mbarrier_token_t token = __mbarrier_arrive(&bar);
        own[t] = k;
        while (!__mbarrier_test_wait(&bar, token)) {}
        out[t] += s[k & 1][63 - t] + own[t];
    }
}

// selvage: block=64 grid=1
__global__ void barrier_object(int* out, int n) {
    __shared__ int s[2][64];
    __shared__ alignas(8) char storage[8];
    auto* bar = reinterpret_cast<cuda::barrier<cuda::thread_scope_block>*>(storage);
    const int t = threadIdx.x;
    if (t == 0) init(bar, blockDim.x);
    __syncthreads();
    for (int k = 0; k < n; k++) {
        s[k & 1][t] = k + t;
        bar->arrive_and_wait();
        out[t] += s[k & 1][63 - t];
    }
}

// selvage: block=64 grid=1
__global__ void copies_announced(const int* in, int* out) {
    __shared__ int s[64];
    __shared__ __mbarrier_t bar;
    const int t = threadIdx.x;
    if (t == 0) __mbarrier_init(&bar, 64);
    __syncthreads();
    __pipeline_memcpy_async(&s[t], &in[t], 4);
    __pipeline_arrive_on(&bar);
    const __mbarrier_token_t token = __mbarrier_arrive(&bar);
    while (!__mbarrier_test_wait(&bar, token)) {}
    out[t] = s[63 - t];
}

// selvage: block=64 grid=1
__global__ void copies_arrive(const int* in, int* out, int n) {
    __shared__ int s[2][64];
    __shared__ Word bar;
    const int t = threadIdx.x;
    if (t == 0) set_up(&bar, 128);
    __syncthreads();
    for (int k = 0; k < n; k++) {
        __pipeline_memcpy_async(&s[k & 1][t], &in[k * 64 + t], 4);
        arrive_when_copied(&bar);
        arrive(&bar);
        wait_for_parity(&bar, k & 1);
        out[t] += s[k & 1][63 - t];
    }
}
