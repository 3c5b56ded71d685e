// expect: product_any race=proved divergence=proved
// expect: product_any silent
// expect: product_any precondition "blockDim.x <= 16"
// expect: product_no_reuse_barrier_any race=race divergence=proved
// expect: product_no_reuse_barrier_any finding race/shared error on as lines 40,44
// expect: product_no_reuse_barrier_any finding race/shared error on bs lines 41,44
// expect: product_unguarded_any race=proved divergence=proved
// expect: product_unguarded_any silent
// expect: product_unguarded_any precondition "n >= gridDim.x * blockDim.x"
// expect: product_parts_any race=proved divergence=proved
// expect: product_parts_any silent
// expect: product_parts_plain_any race=race divergence=proved
// expect: product_parts_plain_any finding race/global error on c lines 77

// The tiles suggest blocks of 16 x 16 threads. The guards handle a remainder.
__global__ void product_any(float* c, const float* a, const float* b, int n) {
    __shared__ float as[16][16], bs[16][16];
    int tx = threadIdx.x, row = blockIdx.y * blockDim.y + threadIdx.y;
    int ty = threadIdx.y, col = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = 0.0f;
    for (int m = 0; m < n; m += 16) {
        as[ty][tx] = row < n && m + tx < n ? a[row * n + m + tx] : 0.0f;
        bs[ty][tx] = m + ty < n && col < n ? b[(m + ty) * n + col] : 0.0f;
        __syncthreads();
        for (int k = 0; k < 16; k++)
            sum += as[ty][k] * bs[k][tx];
        __syncthreads();
    }
    if (row < n && col < n)
        c[row * n + col] = sum;
}

// An iteration loads its tiles while slower threads still read those of the iteration before.
__global__ void product_no_reuse_barrier_any(float* c, const float* a, const float* b, int n) {
    __shared__ float as[16][16], bs[16][16];
    int tx = threadIdx.x, row = blockIdx.y * blockDim.y + threadIdx.y;
    int ty = threadIdx.y, col = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = 0.0f;
    for (int m = 0; m < n; m += 16) {
        as[ty][tx] = row < n && m + tx < n ? a[row * n + m + tx] : 0.0f;
        bs[ty][tx] = m + ty < n && col < n ? b[(m + ty) * n + col] : 0.0f;
        __syncthreads();
        for (int k = 0; k < 16; k++)
            sum += as[ty][k] * bs[k][tx];
    }
    if (row < n && col < n)
        c[row * n + col] = sum;
}

// No guard handles a remainder: the rows of c are at least as long as the grid is wide.
__global__ void product_unguarded_any(float* c, const float* a, const float* b, int n) {
    int col = blockIdx.x * blockDim.x + threadIdx.x, row = blockIdx.y * blockDim.y + threadIdx.y;
    float sum = 0.0f;
    for (int k = 0; k < n; k++)
        sum += a[row * n + k] * b[k * n + col];
    c[row * n + col] = sum;
}

// The sum over k is split between the blocks of one element.
__global__ void product_parts_any(float* c, const float* a, const float* b, int n, int part) {
    int col = blockIdx.x * blockDim.x + threadIdx.x, row = blockIdx.y * blockDim.y + threadIdx.y;
    if (row >= n || col >= n)
        return;
    float sum = 0.0f;
    for (int k = blockIdx.z * part; k < min(n, (int)(blockIdx.z + 1) * part); k++)
        sum += a[row * n + k] * b[k * n + col];
    atomicAdd(&c[row * n + col], sum);
}

__global__ void product_parts_plain_any(float* c, const float* a, const float* b, int n, int part) {
    int col = blockIdx.x * blockDim.x + threadIdx.x, row = blockIdx.y * blockDim.y + threadIdx.y;
    if (row >= n || col >= n)
        return;
    float sum = 0.0f;
    for (int k = blockIdx.z * part; k < min(n, (int)(blockIdx.z + 1) * part); k++)
        sum += a[row * n + k] * b[k * n + col];
    c[row * n + col] += sum;
}
