// expect: softmax_any race=proved divergence=proved
// expect: softmax_any silent
// expect: softmax_any assumes no-alias
// expect: softmax_reused_any race=race divergence=proved
// expect: softmax_reused_any finding race/shared error on s lines 58,62
// expect: cross_entropy_any race=proved divergence=proved
// expect: cross_entropy_any silent
// expect: cross_entropy_plain_any race=race divergence=proved
// expect: cross_entropy_plain_any finding race/global error on loss lines 101
// expect: cross_entropy_in_place_any race=race divergence=proved
// expect: cross_entropy_in_place_any finding race/global warning on logits lines 109,111
//
// One block takes a row. The block may have any number of threads, the row any length.

__global__ void softmax_any(float* out, const float* in, int n) {
    __shared__ float s[256];
    int t = threadIdx.x, row = blockIdx.x;
    float m = -INFINITY;
    for (int i = t; i < n; i += blockDim.x)
        m = fmaxf(m, in[row * n + i]);
    s[t] = m;
    __syncthreads();
    for (int d = blockDim.x / 2; d > 0; d /= 2) {
        if (t < d)
            s[t] = fmaxf(s[t], s[t + d]);
        __syncthreads();
    }
    m = s[0];
    __syncthreads();
    float sum = 0.0f;
    for (int i = t; i < n; i += blockDim.x)
        sum += expf(in[row * n + i] - m);
    s[t] = sum;
    __syncthreads();
    for (int d = blockDim.x / 2; d > 0; d /= 2) {
        if (t < d)
            s[t] += s[t + d];
        __syncthreads();
    }
    for (int i = t; i < n; i += blockDim.x)
        out[row * n + i] = expf(in[row * n + i] - m) / s[0];
}

// The sums overwrite the maximum while other threads still read it.
__global__ void softmax_reused_any(float* out, const float* in, int n) {
    __shared__ float s[256];
    int t = threadIdx.x, row = blockIdx.x;
    float m = -INFINITY;
    for (int i = t; i < n; i += blockDim.x)
        m = fmaxf(m, in[row * n + i]);
    s[t] = m;
    __syncthreads();
    for (int d = blockDim.x / 2; d > 0; d /= 2) {
        if (t < d)
            s[t] = fmaxf(s[t], s[t + d]);
        __syncthreads();
    }
    m = s[0];
    float sum = 0.0f;
    for (int i = t; i < n; i += blockDim.x)
        sum += expf(in[row * n + i] - m);
    s[t] = sum;
    __syncthreads();
    for (int d = blockDim.x / 2; d > 0; d /= 2) {
        if (t < d)
            s[t] += s[t + d];
        __syncthreads();
    }
    for (int i = t; i < n; i += blockDim.x)
        out[row * n + i] = expf(in[row * n + i] - m) / s[0];
}

// The sum of the exponentials of a row, in all threads.
__device__ float row_sum(const float* logits, int n, float* s) {
    int t = threadIdx.x;
    float sum = 0.0f;
    for (int i = t; i < n; i += blockDim.x)
        sum += expf(logits[blockIdx.x * n + i]);
    s[t] = sum;
    __syncthreads();
    for (int d = blockDim.x / 2; d > 0; d /= 2) {
        if (t < d)
            s[t] += s[t + d];
        __syncthreads();
    }
    return s[0];
}

__global__ void cross_entropy_any(float* loss, const float* logits, const int* target, int n) {
    __shared__ float s[128];
    float sum = row_sum(logits, n, s);
    if (threadIdx.x == 0)
        atomicAdd(loss, logf(sum) - logits[blockIdx.x * n + target[blockIdx.x]]);
}

// Each block adds to the one loss without an atomic.
__global__ void cross_entropy_plain_any(float* loss, const float* logits, const int* target, int n) {
    __shared__ float s[128];
    float sum = row_sum(logits, n, s);
    if (threadIdx.x == 0)
        *loss += logf(sum) - logits[blockIdx.x * n + target[blockIdx.x]];
}

// Thread 0 reads the logit of the target after another thread may have replaced it by its probability.
__global__ void cross_entropy_in_place_any(float* loss, float* logits, const int* target, int n) {
    __shared__ float s[128];
    float sum = row_sum(logits, n, s);
    for (int i = threadIdx.x; i < n; i += blockDim.x)
        logits[blockIdx.x * n + i] = expf(logits[blockIdx.x * n + i]) / sum;
    if (threadIdx.x == 0)
        loss[blockIdx.x] = logf(sum) - logits[blockIdx.x * n + target[blockIdx.x]];
}
