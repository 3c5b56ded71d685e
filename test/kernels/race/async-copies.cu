// expect: own_element race=proved divergence=proved
// expect: wait_in_both_branches race=proved divergence=proved
// expect: guarded_twice race=proved divergence=proved
// expect: chunks_any_block race=proved divergence=proved
// expect: chunks_double_buffered race=proved divergence=proved
// expect: four_stages_in_a_ring race=proved divergence=proved
// expect: any_number_of_rounds race=proved divergence=proved
// expect: within_a_warp race=proved divergence=proved
// expect: buffer_used_again race=proved divergence=proved
// expect: two_groups_a_round race=proved divergence=proved
// expect: nested race=proved divergence=proved
//
// Waits for asynchronous copies, all of them sufficient.
#include <cuda_pipeline_primitives.h>

#define COPY(to, from) __pipeline_memcpy_async(to, from, 4)
#define COMMIT() __pipeline_commit()
#define WAIT(left) __pipeline_wait_prior(left)

// selvage: block=64 grid=1
__global__ void own_element(const int* in, int* out) {
    __shared__ int s[64];
    const int t = threadIdx.x;
    COPY(&s[t], &in[t]);
    COMMIT();
    WAIT(0);
    out[t] = s[t];
}

// selvage: block=64 grid=1
__global__ void wait_in_both_branches(const int* in, int* out) {
    __shared__ int s[2][64];
    const int t = threadIdx.x;
    int sum = 0;
    COPY(&s[0][t], &in[t]);
    COMMIT();
    for (int k = 0; k < 8; k++) {
        if (k + 1 < 8) {
            COPY(&s[(k + 1) & 1][t], &in[(k + 1) * 64 + t]);
            COMMIT();
            WAIT(1);
        } else {
            WAIT(0);
        }
        __syncthreads();
        sum += s[k & 1][63 - t];
        __syncthreads();
    }
    out[t] = sum;
}

// The second branch follows the same path as the first.
// selvage: block=64 grid=1
__global__ void guarded_twice(const int* in, int* out, int n) {
    __shared__ int s[2][64];
    const int t = threadIdx.x;
    int sum = 0;
    COPY(&s[0][t], &in[t]);
    COMMIT();
    for (int k = 0; k < n; k++) {
        if (k + 1 < n) {
            COPY(&s[(k + 1) & 1][t], &in[(k + 1) * 64 + t]);
            COMMIT();
        }
        out[64 + t] = k;
        if (k + 1 < n) WAIT(1);
        else WAIT(0);
        __syncthreads();
        sum += s[k & 1][63 - t];
        __syncthreads();
    }
    out[t] = sum;
}

// Copies of one thread run concurrently, for any trip count.
__global__ void chunks_any_block(const int* in, int* out) {
    __shared__ int s[1024];
    const int t = threadIdx.x;
    for (int i = t; i < 1024; i += blockDim.x) COPY(&s[i], &in[i]);
    COMMIT();
    WAIT(0);
    __syncthreads();
    out[blockIdx.x * blockDim.x + t] = s[1023 - t];
}

// selvage: block=64 grid=1
__global__ void chunks_double_buffered(const int* in, int* out) {
    __shared__ int s[2][256];
    const int t = threadIdx.x;
    int sum = 0;
    for (int i = t; i < 256; i += 64) COPY(&s[0][i], &in[i]);
    COMMIT();
    for (int k = 0; k < 8; k++) {
        if (k + 1 < 8)
            for (int i = t; i < 256; i += 64) COPY(&s[(k + 1) & 1][i], &in[(k + 1) * 256 + i]);
        COMMIT();
        WAIT(1);
        __syncthreads();
        sum += s[k & 1][255 - t];
        __syncthreads();
    }
    out[t] = sum;
}

// selvage: block=64 grid=1
__global__ void four_stages_in_a_ring(const int* in, int* out, int n) {
    __shared__ int s[4][64];
    const int t = threadIdx.x;
    int sum = 0, fill = 0, use = 0;
    for (int k = 0; k < 3; k++) {
        COPY(&s[fill][t], &in[k * 64 + t]);
        COMMIT();
        if (++fill == 4) fill = 0;
    }
    for (int k = 0; k < n; k++) {
        WAIT(2);
        __syncthreads();
        if (k + 3 < n) COPY(&s[fill][t], &in[(k + 3) * 64 + t]);
        COMMIT();
        if (++fill == 4) fill = 0;
        sum += s[use][63 - t];
        if (++use == 4) use = 0;
    }
    out[t] = sum;
}

// selvage: block=64 grid=1
__global__ void any_number_of_rounds(const int* in, int* out, int n) {
    __shared__ int s[2][64];
    const int t = threadIdx.x;
    int sum = 0;
    COPY(&s[0][t], &in[t]);
    COMMIT();
    for (int k = 0; k < n; k++) {
        if (k + 1 < n) COPY(&s[(k + 1) & 1][t], &in[(k + 1) * 64 + t]);
        COMMIT();
        WAIT(1);
        __syncthreads();
        sum += s[k & 1][63 - t];
        __syncthreads();
    }
    out[t] = sum;
}

// selvage: block=64 grid=1
__global__ void within_a_warp(const int* in, int* out) {
    __shared__ int s[64];
    const int t = threadIdx.x;
    COPY(&s[t], &in[t]);
    COMMIT();
    WAIT(0);
    __syncwarp();
    out[t] = s[t ^ 1];
}

// selvage: block=64 grid=1
__global__ void buffer_used_again(const int* in, int* out) {
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
    WAIT(0);
    __syncthreads();
    s[0][t] = sum;
    __syncthreads();
    out[t] = s[0][63 - t];
}

// selvage: block=64 grid=4
__global__ void two_groups_a_round(const int* in, int* out, int n) {
    __shared__ int a[2][64], b[2][64];
    const int t = threadIdx.x;
    int sum = 0;
    COPY(&a[0][t], &in[t]);
    COMMIT();
    COPY(&b[0][t], &in[64 + t]);
    COMMIT();
    for (int k = 0; k < n; k++) {
        COPY(&a[(k + 1) & 1][t], &in[k * 128 + 128 + t]);
        COMMIT();
        COPY(&b[(k + 1) & 1][t], &in[k * 128 + 192 + t]);
        COMMIT();
        WAIT(3);
        __syncthreads();
        sum += a[k & 1][63 - t];
        WAIT(2);
        __syncthreads();
        sum += b[k & 1][63 - t];
        __syncthreads();
    }
    out[blockIdx.x * 64 + t] = sum;
}

// All groups with a copy are complete when the inner loop ends.
// selvage: block=64 grid=1
__global__ void nested(const int* in, int* out, int n) {
    __shared__ int s[2][64];
    const int t = threadIdx.x;
    int sum = 0;
    for (int round = 0; round < n; round++) {
        COPY(&s[0][t], &in[t]);
        COMMIT();
        for (int k = 0; k < 8; k++) {
            if (k < 7) COPY(&s[(k + 1) & 1][t], &in[(k + 1) * 64 + t]);
            COMMIT();
            WAIT(1);
            __syncthreads();
            sum += s[k & 1][63 - t];
            __syncthreads();
        }
    }
    out[t] = sum;
}
