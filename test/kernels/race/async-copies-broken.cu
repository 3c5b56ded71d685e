// expect: own_element_no_wait race=race divergence=proved finding race/shared lines 26,28
// expect: wait_after_barrier race=race divergence=proved finding race/shared lines 35,39
// expect: half_waits race=race divergence=proved finding race/shared lines 46,50
// expect: odd_threads_commit race=race divergence=proved finding race/shared lines 57,61
// expect: source_overwritten race=race divergence=proved finding race/global lines 69,71
// expect: source_overwritten_by_another race=race divergence=proved finding race/global lines 81,84
// expect: returns_without_waiting race=race divergence=proved finding race/shared lines 95,100 finding barrier/early-exit lines 99
// expect: within_a_warp_no_wait race=race divergence=proved finding race/shared lines 107,110
// expect: cleared_behind_copy race=race divergence=proved finding race/shared lines 119,121
// expect: tail_not_awaited race=race divergence=proved finding race/shared lines 141,144
// expect: buffer_used_too_early race=race divergence=proved finding race/shared lines 158,165 finding race/shared lines 158,167
// expect: ring_too_short race=race divergence=proved finding race/shared lines 184,187
//
// Waits for asynchronous copies, none of them sufficient.
#include <cuda_pipeline_primitives.h>

#define COPY(to, from) __pipeline_memcpy_async(to, from, 4)
#define COMMIT() __pipeline_commit()
#define WAIT(left) __pipeline_wait_prior(left)

// A copy is not ordered before later accesses of the same thread until that waits.
// selvage: block=64 grid=1
__global__ void own_element_no_wait(const int* in, int* out) {
    __shared__ int s[64];
    const int t = threadIdx.x;
    COPY(&s[t], &in[t]);
    COMMIT();
    out[t] = s[t];
}

// selvage: block=64 grid=1
__global__ void wait_after_barrier(const int* in, int* out) {
    __shared__ int s[64];
    const int t = threadIdx.x;
    COPY(&s[t], &in[t]);
    COMMIT();
    __syncthreads();
    WAIT(0);
    out[t] = s[63 - t];
}

// selvage: block=64 grid=1
__global__ void half_waits(const int* in, int* out) {
    __shared__ int s[64];
    const int t = threadIdx.x;
    COPY(&s[t], &in[t]);
    COMMIT();
    if (t < 32) WAIT(0);
    __syncthreads();
    out[t] = s[63 - t];
}

// selvage: block=64 grid=1
__global__ void odd_threads_commit(const int* in, int* out) {
    __shared__ int s[64];
    const int t = threadIdx.x;
    COPY(&s[t], &in[t]);
    if (t & 1) COMMIT();
    WAIT(0);
    __syncthreads();
    out[t] = s[63 - t];
}

// The copy may read the later write of the thread.
// selvage: block=64 grid=1
__global__ void source_overwritten(int* in, int* out) {
    __shared__ int s[64];
    const int t = threadIdx.x;
    COPY(&s[t], &in[t]);
    COMMIT();
    in[t] = 5;
    WAIT(0);
    __syncthreads();
    out[t] = s[63 - t];
}

// selvage: block=64 grid=1
__global__ void source_overwritten_by_another(int* in, int* out) {
    __shared__ int s[64];
    const int t = threadIdx.x;
    COPY(&s[t], &in[t]);
    COMMIT();
    __syncthreads();
    in[63 - t] = 5;
    WAIT(0);
    __syncthreads();
    out[t] = s[63 - t];
}

// No thread ever waits for the copies of the lower warp.
// selvage: block=64 grid=1
__global__ void returns_without_waiting(const int* in, int* out) {
    __shared__ int s[64];
    const int t = threadIdx.x;
    COPY(&s[t], &in[t]);
    COMMIT();
    if (t < 32) return;
    WAIT(0);
    __syncthreads();
    out[t] = s[63 - t];
}

// selvage: block=64 grid=1
__global__ void within_a_warp_no_wait(const int* in, int* out) {
    __shared__ int s[64];
    const int t = threadIdx.x;
    COPY(&s[t], &in[t]);
    COMMIT();
    __syncwarp();
    out[t] = s[t ^ 1];
    WAIT(0);
}

// The zero may arrive before or after the copy.
// selvage: block=64 grid=1
__global__ void cleared_behind_copy(const int* in, int* out) {
    __shared__ int s[64];
    const int t = threadIdx.x;
    COPY(&s[t], &in[t]);
    COMMIT();
    s[t] = 0;
    WAIT(0);
    __syncthreads();
    out[t] = s[63 - t];
}

// No group is committed in the last two iterations.
// selvage: block=64 grid=1
__global__ void tail_not_awaited(const int* in, int* out) {
    __shared__ int s[3][64];
    const int t = threadIdx.x;
    int sum = 0;
    for (int k = 0; k < 2; k++) {
        COPY(&s[k][t], &in[k * 64 + t]);
        COMMIT();
    }
    for (int k = 0; k < 8; k++) {
        WAIT(1);
        __syncthreads();
        if (k + 2 < 8) {
            COPY(&s[(k + 2) % 3][t], &in[(k + 2) * 64 + t]);
            COMMIT();
        }
        sum += s[k % 3][63 - t];
    }
    out[t] = sum;
}

// The last copy, of which nothing is used, still goes on.
// selvage: block=64 grid=1
__global__ void buffer_used_too_early(const int* in, int* out) {
    __shared__ int s[2][64];
    const int t = threadIdx.x;
    int sum = 0;
    COPY(&s[0][t], &in[t]);
    COMMIT();
    for (int k = 0; k < 8; k++) {
        COPY(&s[(k + 1) & 1][t], &in[(k + 1) * 64 + t]);
        COMMIT();
        WAIT(1);
        __syncthreads();
        sum += s[k & 1][63 - t];
        __syncthreads();
    }
    s[0][t] = sum;
    __syncthreads();
    out[t] = s[0][63 - t];
}

// The fifth stage is the first one again.
// selvage: block=64 grid=1
__global__ void ring_too_short(const int* in, int* out) {
    __shared__ int s[4][64];
    const int t = threadIdx.x;
    int sum = 0, fill = 0, use = 0;
    for (int k = 0; k < 3; k++) {
        COPY(&s[fill][t], &in[k * 64 + t]);
        COMMIT();
        if (++fill == 3) fill = 0;
    }
    for (int k = 0; k < 16; k++) {
        WAIT(2);
        __syncthreads();
        if (k + 3 < 16) COPY(&s[fill][t], &in[(k + 3) * 64 + t]);
        COMMIT();
        if (++fill == 3) fill = 0;
        sum += s[use][63 - t];
        if (++use == 3) use = 0;
    }
    out[t] = sum;
}
