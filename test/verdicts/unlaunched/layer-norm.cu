// expect: layer_norm_warp_any race=proved divergence=proved
// expect: layer_norm_warp_any silent
// expect: layer_norm_warp_any precondition "blockDim.x <= 32"
// expect: layer_norm_block_any race=proved divergence=proved
// expect: layer_norm_block_any silent
// expect: layer_norm_unsynced_any race=race divergence=proved
// expect: layer_norm_unsynced_any finding race/shared error on mean lines 67,70
// expect: layer_norm_gain_any race=proved divergence=proved
// expect: layer_norm_gain_any silent
// expect: layer_norm_gain_plain_any race=race divergence=proved
// expect: layer_norm_gain_plain_any finding race/global error on gain lines 81

// A warp takes a row: blockDim.x is 32, and blockDim.y rows share a block. With 64 lanes two of them would write each
// element.
__global__ void layer_norm_warp_any(float* x, int rows, int n) {
    int row = blockIdx.x * blockDim.y + threadIdx.y, last = row < rows ? n : 0;
    float sum = 0.0f, squares = 0.0f;
    for (int i = threadIdx.x; i < last; i += 32) {
        float v = x[row * n + i];
        sum += v;
        squares += v * v;
    }
    for (int d = 16; d > 0; d /= 2) {
        sum += __shfl_xor_sync(0xffffffffu, sum, d);
        squares += __shfl_xor_sync(0xffffffffu, squares, d);
    }
    float mean = sum / n;
    float scale = rsqrtf(squares / n - mean * mean + 1e-5f);
    for (int i = threadIdx.x; i < last; i += 32)
        x[row * n + i] = (x[row * n + i] - mean) * scale;
}

__global__ void layer_norm_block_any(float* out, const float* in, int n) {
    __shared__ float s[512];
    __shared__ float mean;
    int t = threadIdx.x, row = blockIdx.x;
    float sum = 0.0f;
    for (int i = t; i < n; i += blockDim.x)
        sum += in[row * n + i];
    s[t] = sum;
    __syncthreads();
    if (t == 0) {
        float all = 0.0f;
        for (int k = 0; k < blockDim.x; k++)
            all += s[k];
        mean = all / n;
    }
    __syncthreads();
    for (int i = t; i < n; i += blockDim.x)
        out[row * n + i] = in[row * n + i] - mean;
}

// The other threads read the mean before thread 0 has stored it.
__global__ void layer_norm_unsynced_any(float* out, const float* in, int n) {
    __shared__ float s[512];
    __shared__ float mean;
    int t = threadIdx.x, row = blockIdx.x;
    float sum = 0.0f;
    for (int i = t; i < n; i += blockDim.x)
        sum += in[row * n + i];
    s[t] = sum;
    __syncthreads();
    if (t == 0) {
        float all = 0.0f;
        for (int k = 0; k < blockDim.x; k++)
            all += s[k];
        mean = all / n;
    }
    for (int i = t; i < n; i += blockDim.x)
        out[row * n + i] = in[row * n + i] - mean;
}

// The gradient of the gain adds up over the rows, and each block has one row.
__global__ void layer_norm_gain_any(float* gain, const float* dy, const float* xhat, int n) {
    for (int i = threadIdx.x; i < n; i += blockDim.x)
        atomicAdd(&gain[i], dy[blockIdx.x * n + i] * xhat[blockIdx.x * n + i]);
}

__global__ void layer_norm_gain_plain_any(float* gain, const float* dy, const float* xhat, int n) {
    for (int i = threadIdx.x; i < n; i += blockDim.x)
        gain[i] += dy[blockIdx.x * n + i] * xhat[blockIdx.x * n + i];
}
