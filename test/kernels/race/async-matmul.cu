// expect: single_stage race=proved divergence=proved
// expect: double_buffered race=proved divergence=proved
// expect: three_stages race=proved divergence=proved
// expect: three_stages_filled_by_loop race=proved divergence=proved
//
// Tiles come by cp.async: each thread waits for its own copies, the barrier shows them to the others.
#include <cuda_pipeline_primitives.h>

#define TILE 16

// selvage: block=16,16 grid=4,4 arg(n=64)
__global__ void single_stage(const float* A, const float* B, float* C, int n) {
    __shared__ float As[TILE][TILE];
    __shared__ float Bs[TILE][TILE];
    int tx = threadIdx.x, ty = threadIdx.y;
    int row = blockIdx.y * TILE + ty, col = blockIdx.x * TILE + tx;
    float sum = 0.0f;
    for (int m = 0; m < n / TILE; ++m) {
        __pipeline_memcpy_async(&As[ty][tx], &A[row * n + m * TILE + tx], 4);
        __pipeline_memcpy_async(&Bs[ty][tx], &B[(m * TILE + ty) * n + col], 4);
        __pipeline_commit();
        __pipeline_wait_prior(0);
        __syncthreads();
        for (int k = 0; k < TILE; ++k) sum += As[ty][k] * Bs[k][tx];
        __syncthreads();
    }
    C[row * n + col] = sum;
}

// The copies of the next tile go on while this one is used.
// selvage: block=16,16 grid=4,4 arg(n=64)
__global__ void double_buffered(const float* A, const float* B, float* C, int n) {
    __shared__ float As[2][TILE][TILE];
    __shared__ float Bs[2][TILE][TILE];
    int tx = threadIdx.x, ty = threadIdx.y;
    int row = blockIdx.y * TILE + ty, col = blockIdx.x * TILE + tx;
    int tiles = n / TILE;
    float sum = 0.0f;
    __pipeline_memcpy_async(&As[0][ty][tx], &A[row * n + tx], 4);
    __pipeline_memcpy_async(&Bs[0][ty][tx], &B[ty * n + col], 4);
    __pipeline_commit();
    for (int m = 0; m < tiles; ++m) {
        int stage = m & 1;
        if (m + 1 < tiles) {
            __pipeline_memcpy_async(&As[stage ^ 1][ty][tx], &A[row * n + (m + 1) * TILE + tx], 4);
            __pipeline_memcpy_async(&Bs[stage ^ 1][ty][tx], &B[((m + 1) * TILE + ty) * n + col], 4);
        }
        __pipeline_commit();
        __pipeline_wait_prior(1);
        __syncthreads();
        for (int k = 0; k < TILE; ++k) sum += As[stage][ty][k] * Bs[stage][k][tx];
        __syncthreads();
    }
    C[row * n + col] = sum;
}

// Two tiles ahead, so that one barrier per iteration is enough: the refilled tile was used one iteration ago.
// selvage: block=16,16 grid=4,4 arg(n=128)
__global__ void three_stages(const float* A, const float* B, float* C, int n) {
    __shared__ float As[3][TILE][TILE];
    __shared__ float Bs[3][TILE][TILE];
    int tx = threadIdx.x, ty = threadIdx.y;
    int row = blockIdx.y * TILE + ty, col = blockIdx.x * TILE + tx;
    int tiles = n / TILE;
    float sum = 0.0f;
    __pipeline_memcpy_async(&As[0][ty][tx], &A[row * n + tx], 4);
    __pipeline_memcpy_async(&Bs[0][ty][tx], &B[ty * n + col], 4);
    __pipeline_commit();
    __pipeline_memcpy_async(&As[1][ty][tx], &A[row * n + TILE + tx], 4);
    __pipeline_memcpy_async(&Bs[1][ty][tx], &B[(TILE + ty) * n + col], 4);
    __pipeline_commit();
    for (int m = 0; m < tiles; ++m) {
        __pipeline_wait_prior(1);
        __syncthreads();
        if (m + 2 < tiles) {
            int stage = (m + 2) % 3;
            __pipeline_memcpy_async(&As[stage][ty][tx], &A[row * n + (m + 2) * TILE + tx], 4);
            __pipeline_memcpy_async(&Bs[stage][ty][tx], &B[((m + 2) * TILE + ty) * n + col], 4);
        }
        __pipeline_commit();
        for (int k = 0; k < TILE; ++k) sum += As[m % 3][ty][k] * Bs[m % 3][k][tx];
    }
    C[row * n + col] = sum;
}

// selvage: block=16,16 grid=4,4 arg(n=128)
__global__ void three_stages_filled_by_loop(const float* A, const float* B, float* C, int n) {
    __shared__ float As[3][TILE][TILE];
    __shared__ float Bs[3][TILE][TILE];
    int tx = threadIdx.x, ty = threadIdx.y;
    int row = blockIdx.y * TILE + ty, col = blockIdx.x * TILE + tx;
    int tiles = n / TILE;
    float sum = 0.0f;
    for (int m = 0; m < 2; ++m) {
        __pipeline_memcpy_async(&As[m][ty][tx], &A[row * n + m * TILE + tx], 4);
        __pipeline_memcpy_async(&Bs[m][ty][tx], &B[(m * TILE + ty) * n + col], 4);
        __pipeline_commit();
    }
    for (int m = 0; m < tiles; ++m) {
        __pipeline_wait_prior(1);
        __syncthreads();
        if (m + 2 < tiles) {
            int stage = (m + 2) % 3;
            __pipeline_memcpy_async(&As[stage][ty][tx], &A[row * n + (m + 2) * TILE + tx], 4);
            __pipeline_memcpy_async(&Bs[stage][ty][tx], &B[((m + 2) * TILE + ty) * n + col], 4);
        }
        __pipeline_commit();
        for (int k = 0; k < TILE; ++k) sum += As[m % 3][ty][k] * Bs[m % 3][k][tx];
    }
    C[row * n + col] = sum;
}
