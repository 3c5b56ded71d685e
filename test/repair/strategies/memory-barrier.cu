// expect: used_before_it_is_set_up repaired +1 -0
// expect: announced_before_it_is_set_up repaired +1 -0
//
// Barriers in memory order accesses only after they are initialized, and with no other barrier between arriving and
// waiting.

#include <cuda_awbarrier_primitives.h>
#include <cuda_pipeline_primitives.h>

// selvage: block=64 grid=1
__global__ void used_before_it_is_set_up(int* out, int n) {
    __shared__ int s[2][64];
    __shared__ __mbarrier_t bar;
    int t = threadIdx.x;
    if (t == 0) __mbarrier_init(&bar, 64);
    for (int k = 0; k < n; k++) {
        s[k & 1][t] = k + t;
        const __mbarrier_token_t token = __mbarrier_arrive(&bar);
        while (!__mbarrier_test_wait(&bar, token)) {}
        out[t] += s[k & 1][63 - t];
    }
}

// selvage: block=64 grid=1
__global__ void announced_before_it_is_set_up(const int* in, int* out) {
    __shared__ int s[64];
    __shared__ __mbarrier_t bar;
    int t = threadIdx.x;
    if (t == 0) __mbarrier_init(&bar, 64);
    __pipeline_memcpy_async(&s[t], &in[t], 4);
    __pipeline_arrive_on(&bar);
    const __mbarrier_token_t token = __mbarrier_arrive(&bar);
    while (!__mbarrier_test_wait(&bar, token)) {}
    out[t] = s[63 - t];
}
