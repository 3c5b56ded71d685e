// expect: no_wait race=race divergence=proved finding race/shared lines 24,24 finding race/shared lines 24,28 finding race/shared lines 25,25 finding race/shared lines 25,28
// expect: no_commit race=race divergence=proved finding race/shared lines 43,43 finding race/shared lines 43,47 finding race/shared lines 44,44 finding race/shared lines 44,47
// expect: no_barrier_after_wait race=race divergence=proved finding race/shared lines 62,66 finding race/shared lines 63,66
// expect: no_barrier_before_refill race=race divergence=proved finding race/shared lines 81,86 finding race/shared lines 82,86
// expect: double_buffered_wait_too_weak race=race divergence=proved finding race/shared lines 100,106 finding race/shared lines 100,112 finding race/shared lines 101,107 finding race/shared lines 101,112 finding race/shared lines 106,106 finding race/shared lines 106,112 finding race/shared lines 107,107 finding race/shared lines 107,112
// expect: last_group_not_awaited race=race divergence=proved finding race/shared lines 133,139 finding race/shared lines 134,139
// expect: three_stages_filled_too_early race=race divergence=proved finding race/shared lines 162,168 finding race/shared lines 163,168
// expect: three_stages_wait_too_weak race=race divergence=proved finding race/shared lines 183,196 finding race/shared lines 184,196 finding race/shared lines 192,196 finding race/shared lines 193,196
//
// Bugs in a tiled product whose tiles come by cp.async, each in a separate kernel.
#include <cuda_pipeline_primitives.h>

#define TILE 16

// No thread waits for the copies.
// selvage: block=16,16 grid=4,4 arg(n=64)
__global__ void no_wait(const float* A, const float* B, float* C, int n) {
    __shared__ float As[TILE][TILE];
    __shared__ float Bs[TILE][TILE];
    int tx = threadIdx.x, ty = threadIdx.y;
    int row = blockIdx.y * TILE + ty, col = blockIdx.x * TILE + tx;
    float sum = 0.0f;
    for (int m = 0; m < n / TILE; ++m) {
        __pipeline_memcpy_async(&As[ty][tx], &A[row * n + m * TILE + tx], 4);
        __pipeline_memcpy_async(&Bs[ty][tx], &B[(m * TILE + ty) * n + col], 4);
        __pipeline_commit();
        __syncthreads();
        for (int k = 0; k < TILE; ++k) sum += As[ty][k] * Bs[k][tx];
        __syncthreads();
    }
    C[row * n + col] = sum;
}

// A group that is not committed is not waited for.
// selvage: block=16,16 grid=4,4 arg(n=64)
__global__ void no_commit(const float* A, const float* B, float* C, int n) {
    __shared__ float As[TILE][TILE];
    __shared__ float Bs[TILE][TILE];
    int tx = threadIdx.x, ty = threadIdx.y;
    int row = blockIdx.y * TILE + ty, col = blockIdx.x * TILE + tx;
    float sum = 0.0f;
    for (int m = 0; m < n / TILE; ++m) {
        __pipeline_memcpy_async(&As[ty][tx], &A[row * n + m * TILE + tx], 4);
        __pipeline_memcpy_async(&Bs[ty][tx], &B[(m * TILE + ty) * n + col], 4);
        __pipeline_wait_prior(0);
        __syncthreads();
        for (int k = 0; k < TILE; ++k) sum += As[ty][k] * Bs[k][tx];
        __syncthreads();
    }
    C[row * n + col] = sum;
}

// The wait shows each thread its own copies, and no others.
// selvage: block=16,16 grid=4,4 arg(n=64)
__global__ void no_barrier_after_wait(const float* A, const float* B, float* C, int n) {
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
        for (int k = 0; k < TILE; ++k) sum += As[ty][k] * Bs[k][tx];
        __syncthreads();
    }
    C[row * n + col] = sum;
}

// A fast thread refills the tile that a slow one still reads.
// selvage: block=16,16 grid=4,4 arg(n=64)
__global__ void no_barrier_before_refill(const float* A, const float* B, float* C, int n) {
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
    }
    C[row * n + col] = sum;
}

// The group that is to be used is the one that may still be in flight.
// selvage: block=16,16 grid=4,4 arg(n=64)
__global__ void double_buffered_wait_too_weak(const float* A, const float* B, float* C, int n) {
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
        __pipeline_wait_prior(2);
        __syncthreads();
        for (int k = 0; k < TILE; ++k) sum += As[stage][ty][k] * Bs[stage][k][tx];
        __syncthreads();
    }
    C[row * n + col] = sum;
}

// The last iteration commits no group, so that waiting until one group is pending does not wait for the last tile.
// selvage: block=16,16 grid=4,4 arg(n=64)
__global__ void last_group_not_awaited(const float* A, const float* B, float* C, int n) {
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
            __pipeline_commit();
        }
        __pipeline_wait_prior(1);
        __syncthreads();
        for (int k = 0; k < TILE; ++k) sum += As[stage][ty][k] * Bs[stage][k][tx];
        __syncthreads();
    }
    C[row * n + col] = sum;
}

// Three stages, but filled before the barrier after which the stage is unused.
// selvage: block=16,16 grid=4,4 arg(n=128)
__global__ void three_stages_filled_too_early(const float* A, const float* B, float* C, int n) {
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
        if (m + 2 < tiles) {
            int stage = (m + 2) % 3;
            __pipeline_memcpy_async(&As[stage][ty][tx], &A[row * n + (m + 2) * TILE + tx], 4);
            __pipeline_memcpy_async(&Bs[stage][ty][tx], &B[((m + 2) * TILE + ty) * n + col], 4);
        }
        __pipeline_commit();
        __pipeline_wait_prior(2);
        __syncthreads();
        for (int k = 0; k < TILE; ++k) sum += As[m % 3][ty][k] * Bs[m % 3][k][tx];
    }
    C[row * n + col] = sum;
}

// Two of three groups may be in flight: one of them is the one that is used.
// selvage: block=16,16 grid=4,4 arg(n=128)
__global__ void three_stages_wait_too_weak(const float* A, const float* B, float* C, int n) {
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
        __pipeline_wait_prior(2);
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
