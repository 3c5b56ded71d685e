// expect: attention_any race=proved divergence=proved
// expect: attention_any silent
// expect: attention_no_reuse_barrier_any race=race divergence=proved
// expect: attention_no_reuse_barrier_any finding race/shared error on smem lines 44,45,51,53
// expect: attention_carved_short_any race=race divergence=proved
// expect: attention_carved_short_any finding race/shared error on smem lines 65,66
// expect: carved_any race=proved divergence=proved
// expect: carved_any silent
// expect: carved_any precondition "offset >= m"
//
// Attention over tiles of keys and values, for which the dynamic shared memory is carved into parts.

extern __shared__ float smem[];

__global__ void attention_any(float* out, const float* q, const float* k, const float* v, int n, int d) {
    float* ks = smem;
    float* vs = ks + blockDim.x * d;
    int t = threadIdx.x, row = blockIdx.x * blockDim.x + t;
    for (int base = 0; base < n; base += blockDim.x) {
        for (int c = 0; c < d; c++) {
            ks[t * d + c] = base + t < n ? k[(base + t) * d + c] : 0.0f;
            vs[t * d + c] = base + t < n ? v[(base + t) * d + c] : 0.0f;
        }
        __syncthreads();
        for (int j = 0; row < n && j < blockDim.x; j++) {
            float dot = 0.0f;
            for (int c = 0; c < d; c++)
                dot += q[row * d + c] * ks[j * d + c];
            for (int c = 0; c < d; c++)
                out[row * d + c] += expf(dot) * vs[j * d + c];
        }
        __syncthreads();
    }
}

// The next tile overwrites one that slower threads still read.
__global__ void attention_no_reuse_barrier_any(float* out, const float* q, const float* k, const float* v, int n,
                                               int d) {
    float* ks = smem;
    float* vs = ks + blockDim.x * d;
    int t = threadIdx.x, row = blockIdx.x * blockDim.x + t;
    for (int base = 0; base < n; base += blockDim.x) {
        for (int c = 0; c < d; c++) {
            ks[t * d + c] = base + t < n ? k[(base + t) * d + c] : 0.0f;
            vs[t * d + c] = base + t < n ? v[(base + t) * d + c] : 0.0f;
        }
        __syncthreads();
        for (int j = 0; row < n && j < blockDim.x; j++) {
            float dot = 0.0f;
            for (int c = 0; c < d; c++)
                dot += q[row * d + c] * ks[j * d + c];
            for (int c = 0; c < d; c++)
                out[row * d + c] += expf(dot) * vs[j * d + c];
        }
    }
}

// The values start after one row of the keys, not after all of them.
__global__ void attention_carved_short_any(float* out, const float* q, const float* k, const float* v, int n, int d) {
    float* ks = smem;
    float* vs = ks + d;
    int t = threadIdx.x, row = blockIdx.x * blockDim.x + t;
    for (int base = 0; base < n; base += blockDim.x) {
        for (int c = 0; c < d; c++) {
            ks[t * d + c] = base + t < n ? k[(base + t) * d + c] : 0.0f;
            vs[t * d + c] = base + t < n ? v[(base + t) * d + c] : 0.0f;
        }
        __syncthreads();
        for (int j = 0; row < n && j < blockDim.x; j++) {
            float dot = 0.0f;
            for (int c = 0; c < d; c++)
                dot += q[row * d + c] * ks[j * d + c];
            for (int c = 0; c < d; c++)
                out[row * d + c] += expf(dot) * vs[j * d + c];
        }
        __syncthreads();
    }
}

// The offset of the second part is at least the size of the first.
__global__ void carved_any(float* out, const float* x, const float* y, int m, int n, int offset) {
    float* xs = smem;
    float* ys = smem + offset;
    for (int i = threadIdx.x; i < m; i += blockDim.x)
        xs[i] = x[i];
    for (int i = threadIdx.x; i < n; i += blockDim.x)
        ys[i] = y[i];
    __syncthreads();
    for (int i = threadIdx.x; i < n; i += blockDim.x)
        out[i] = ys[n - 1 - i] + (i < m ? xs[m - 1 - i] : 0.0f);
}
