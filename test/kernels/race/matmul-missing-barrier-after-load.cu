// expect: matmul race=race divergence=proved finding race/shared lines 13,16 finding race/shared lines 14,16

template <int TILE>
__device__ void multiply(const float* A, const float* B, float* C, int n) {
    __shared__ float As[TILE][TILE];
    __shared__ float Bs[TILE][TILE];
    int tx = threadIdx.x, ty = threadIdx.y;
    int row = blockIdx.y * TILE + ty;
    int col = blockIdx.x * TILE + tx;
    float sum = 0.0f;

    for (int m = 0; m < n / TILE; ++m) {
        As[ty][tx] = A[row * n + m * TILE + tx];
        Bs[ty][tx] = B[(m * TILE + ty) * n + col];
        for (int k = 0; k < TILE; ++k) {
            sum += As[ty][k] * Bs[k][tx];
        }
        __syncthreads();
    }
    C[row * n + col] = sum;
}

// selvage: block=8,8 grid=2,2 arg(n=16)
__global__ void matmul(const float* A, const float* B, float* C, int n) {
    multiply<8>(A, B, C, n);
}
