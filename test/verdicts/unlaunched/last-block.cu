// expect: total_any race=proved divergence=proved
// expect: total_any silent
// expect: total_any assumes initial
// expect: total_no_fence_any race=race divergence=proved
// expect: total_no_fence_any finding race/global error on part lines 47,51
// expect: compact_any race=proved divergence=proved
// expect: compact_any silent
// expect: compact_pairs_any race=race divergence=proved
// expect: compact_pairs_any finding race/global error on out lines 69,70

// The block that arrives last adds up the results of the others. The count starts at 0.
__global__ void total_any(float* out, float* part, unsigned* count, const float* in) {
    __shared__ float s[256];
    int t = threadIdx.x;
    s[t] = in[blockIdx.x * blockDim.x + t];
    __syncthreads();
    for (int d = blockDim.x / 2; d > 0; d /= 2) {
        if (t < d)
            s[t] += s[t + d];
        __syncthreads();
    }
    if (t == 0) {
        part[blockIdx.x] = s[0];
        __threadfence();
        if (atomicAdd(count, 1u) == gridDim.x - 1) {
            __threadfence();
            float sum = 0.0f;
            for (int b = 0; b < gridDim.x; b++)
                sum += part[b];
            *out = sum;
        }
    }
}

// Without fences the last block may miss a part.
__global__ void total_no_fence_any(float* out, float* part, unsigned* count, const float* in) {
    __shared__ float s[256];
    int t = threadIdx.x;
    s[t] = in[blockIdx.x * blockDim.x + t];
    __syncthreads();
    for (int d = blockDim.x / 2; d > 0; d /= 2) {
        if (t < d)
            s[t] += s[t + d];
        __syncthreads();
    }
    if (t == 0) {
        part[blockIdx.x] = s[0];
        if (atomicAdd(count, 1u) == gridDim.x - 1) {
            float sum = 0.0f;
            for (int b = 0; b < gridDim.x; b++)
                sum += part[b];
            *out = sum;
        }
    }
}

// Each thread allocates a separate slot.
__global__ void compact_any(int* out, unsigned* count, const int* in, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n && in[i] > 0)
        out[atomicAdd(count, 1u)] = in[i];
}

// Each thread allocates one slot and fills two.
__global__ void compact_pairs_any(int* out, unsigned* count, const int* in, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        unsigned slot = atomicAdd(count, 1u);
        out[slot] = i;
        out[slot + 1] = in[i];
    }
}
