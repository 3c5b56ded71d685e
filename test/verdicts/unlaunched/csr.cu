// expect: csr_product_any race=proved divergence=proved
// expect: csr_product_any silent
// expect: csr_scale_any race=proved divergence=proved
// expect: csr_scale_any silent
// expect: csr_scale_any assumes contents
// expect: csr_scale_past_any race=race divergence=proved
// expect: csr_scale_past_any finding race/global error on val lines 45
// expect: csr_dense_any race=proved divergence=proved
// expect: csr_dense_any silent
// expect: csr_dense_any assumes contents
// expect: csr_transposed_any race=race divergence=proved
// expect: csr_transposed_any finding race/global warning on y lines 62
// expect: csr_warp_any race=proved divergence=proved
// expect: csr_warp_any silent
// expect: csr_warp_any precondition "blockDim.x % 32 == 0"
// expect: batched_any race=proved divergence=proved
// expect: batched_any silent
// expect: batched_any assumes contents
// expect: batched_reverse_any race=race divergence=proved
// expect: batched_reverse_any finding race/shared error on s lines 89,90

__global__ void csr_product_any(float* y, const float* val, const int* col, const int* rp, const float* x, int rows) {
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row < rows) {
        float sum = 0.0f;
        for (int j = rp[row]; j < rp[row + 1]; j++)
            sum += val[j] * x[col[j]];
        y[row] = sum;
    }
}

// The rows follow each other.
__global__ void csr_scale_any(float* val, const int* rp, const float* factor, int rows) {
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row < rows)
        for (int j = rp[row]; j < rp[row + 1]; j++)
            val[j] *= factor[row];
}

// Every row takes the first element of the next one too, wherever the rows start.
__global__ void csr_scale_past_any(float* val, const int* rp, const float* factor, int rows) {
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row < rows)
        for (int j = rp[row]; j <= rp[row + 1]; j++)
            val[j] *= factor[row];
}

// A column is below the length of a row.
__global__ void csr_dense_any(float* dense, const float* val, const int* col, const int* rp, int rows, int n) {
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row < rows)
        for (int j = rp[row]; j < rp[row + 1]; j++)
            dense[row * n + col[j]] = val[j];
}

// Rows may have columns in common.
__global__ void csr_transposed_any(float* y, const float* val, const int* col, const int* rp, const float* x,
                                   int rows) {
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row < rows)
        for (int j = rp[row]; j < rp[row + 1]; j++)
            y[col[j]] += val[j] * x[row];
}

__global__ void csr_warp_any(float* y, const float* val, const int* col, const int* rp, const float* x, int rows) {
    int row = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
    if (row >= rows)
        return;
    float sum = 0.0f;
    for (int j = rp[row] + lane; j < rp[row + 1]; j += 32)
        sum += val[j] * x[col[j]];
    for (int d = 16; d > 0; d /= 2)
        sum += __shfl_down_sync(0xffffffffu, sum, d);
    if (lane == 0)
        y[row] = sum;
}

// The vectors of a batch are disjoint.
__global__ void batched_any(float* const* y, const float* const* x, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        y[blockIdx.y][i] = 2.0f * x[blockIdx.y][i];
}

// The vectors are disjoint, but the threads of a block share the tile.
__global__ void batched_reverse_any(float* const* y, const float* const* x) {
    __shared__ float s[256];
    int t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
    s[t] = x[blockIdx.y][i];
    y[blockIdx.y][i] = s[blockDim.x - 1 - t];
}
