// expect: matmul race=proved divergence=proved
// expect: one_barrier_a_tile race=proved divergence=proved
// expect: same_buffer race=race divergence=proved finding race/shared lines 69,73 finding race/shared lines 70,73
// expect: no_barrier race=race divergence=proved finding race/shared lines 89,98 finding race/shared lines 90,98 finding race/shared lines 94,98 finding race/shared lines 95,98
//
// A tiled product that loads the next tile while it works on this one, into the other of two buffers: one barrier a
// tile is enough then.

#define TILE 16

// selvage: block=16,16 assume(n == 16 * gridDim.x)
__global__ void matmul(const float* A, const float* B, float* C, int n) {
    __shared__ float As[2][TILE][TILE];
    __shared__ float Bs[2][TILE][TILE];
    int tx = threadIdx.x, ty = threadIdx.y;
    int row = blockIdx.y * TILE + ty, col = blockIdx.x * TILE + tx;
    int tiles = n / TILE;
    float sum = 0.0f;
    As[0][ty][tx] = A[row * n + tx];
    Bs[0][ty][tx] = B[ty * n + col];
    __syncthreads();
    for (int m = 0; m < tiles; ++m) {
        int now = m % 2, next = 1 - now;
        float a = 0.0f, b = 0.0f;
        if (m + 1 < tiles) {
            a = A[row * n + (m + 1) * TILE + tx];
            b = B[((m + 1) * TILE + ty) * n + col];
        }
        for (int k = 0; k < TILE; ++k)
            sum += As[now][ty][k] * Bs[now][k][tx];
        if (m + 1 < tiles) {
            As[next][ty][tx] = a;
            Bs[next][ty][tx] = b;
        }
        __syncthreads();
    }
    C[row * n + col] = sum;
}

// Stores at the start of an iteration: the barrier after them also ends the reads of the previous iteration.
// selvage: block=16,16 assume(n == 16 * gridDim.x)
__global__ void one_barrier_a_tile(const float* A, const float* B, float* C, int n) {
    __shared__ float As[2][TILE][TILE];
    __shared__ float Bs[2][TILE][TILE];
    int tx = threadIdx.x, ty = threadIdx.y;
    int row = blockIdx.y * TILE + ty, col = blockIdx.x * TILE + tx;
    float sum = 0.0f;
    int now = 0;
    for (int m = 0; m < n / TILE; ++m) {
        As[now][ty][tx] = A[row * n + m * TILE + tx];
        Bs[now][ty][tx] = B[(m * TILE + ty) * n + col];
        __syncthreads();
        for (int k = 0; k < TILE; ++k)
            sum += As[now][ty][k] * Bs[now][k][tx];
        now ^= 1;
    }
    C[row * n + col] = sum;
}

// selvage: block=16,16 grid=2,2 arg(n=64)
__global__ void same_buffer(const float* A, const float* B, float* C, int n) {
    __shared__ float As[2][TILE][TILE];
    __shared__ float Bs[2][TILE][TILE];
    int tx = threadIdx.x, ty = threadIdx.y;
    int row = blockIdx.y * TILE + ty, col = blockIdx.x * TILE + tx;
    float sum = 0.0f;
    int now = 0;
    for (int m = 0; m < n / TILE; ++m) {
        As[now][ty][tx] = A[row * n + m * TILE + tx];
        Bs[now][ty][tx] = B[(m * TILE + ty) * n + col];
        __syncthreads();
        for (int k = 0; k < TILE; ++k)
            sum += As[now][ty][k] * Bs[now][k][tx];
        // Changes twice.
        now ^= 1;
        now ^= m < n;
    }
    C[row * n + col] = sum;
}

// selvage: block=16,16 grid=2,2 arg(n=64)
__global__ void no_barrier(const float* A, const float* B, float* C, int n) {
    __shared__ float As[2][TILE][TILE];
    __shared__ float Bs[2][TILE][TILE];
    int tx = threadIdx.x, ty = threadIdx.y;
    int row = blockIdx.y * TILE + ty, col = blockIdx.x * TILE + tx;
    int tiles = n / TILE;
    float sum = 0.0f;
    As[0][ty][tx] = A[row * n + tx];
    Bs[0][ty][tx] = B[ty * n + col];
    for (int m = 0; m < tiles; ++m) {
        int now = m % 2, next = 1 - now;
        if (m + 1 < tiles) {
            As[next][ty][tx] = A[row * n + (m + 1) * TILE + tx];
            Bs[next][ty][tx] = B[((m + 1) * TILE + ty) * n + col];
        }
        for (int k = 0; k < TILE; ++k)
            sum += As[now][ty][k] * Bs[now][k][tx];
    }
    C[row * n + col] = sum;
}
