// expect: two_stages race=proved divergence=proved
// expect: one_stage race=proved divergence=proved
// expect: waits_for_all race=proved divergence=proved
//
// Tiled products that copy with cp.async: what a thread copies is there for itself once it has waited for the group of
// the copy, and for the others behind the next barrier.
#include <cuda_pipeline_primitives.h>

#define TILE 16

// selvage: block=16,16 assume(n == 16 * gridDim.x)
__global__ void two_stages(const float* A, const float* B, float* C, int n) {
    __shared__ float As[2][TILE][TILE];
    __shared__ float Bs[2][TILE][TILE];
    int tx = threadIdx.x, ty = threadIdx.y;
    int row = blockIdx.y * TILE + ty, col = blockIdx.x * TILE + tx;
    int tiles = n / TILE;
    float sum = 0.0f;
    __pipeline_memcpy_async(&As[0][ty][tx], &A[row * n + tx], sizeof(float));
    __pipeline_memcpy_async(&Bs[0][ty][tx], &B[ty * n + col], sizeof(float));
    __pipeline_commit();
    for (int m = 0; m < tiles; ++m) {
        int now = m % 2, next = 1 - now;
        if (m + 1 < tiles) {
            __pipeline_memcpy_async(&As[next][ty][tx], &A[row * n + (m + 1) * TILE + tx], sizeof(float));
            __pipeline_memcpy_async(&Bs[next][ty][tx], &B[((m + 1) * TILE + ty) * n + col], sizeof(float));
        }
        // An empty group in the last round, so that all but the newest are always what is needed.
        __pipeline_commit();
        __pipeline_wait_prior(1);
        __syncthreads();
        for (int k = 0; k < TILE; ++k)
            sum += As[now][ty][k] * Bs[now][k][tx];
        __syncthreads();
    }
    C[row * n + col] = sum;
}

// selvage: block=16,16 assume(n == 16 * gridDim.x)
__global__ void one_stage(const float* A, const float* B, float* C, int n) {
    __shared__ float As[TILE][TILE];
    __shared__ float Bs[TILE][TILE];
    int tx = threadIdx.x, ty = threadIdx.y;
    int row = blockIdx.y * TILE + ty, col = blockIdx.x * TILE + tx;
    float sum = 0.0f;
    for (int m = 0; m < n / TILE; ++m) {
        __pipeline_memcpy_async(&As[ty][tx], &A[row * n + m * TILE + tx], sizeof(float));
        __pipeline_memcpy_async(&Bs[ty][tx], &B[(m * TILE + ty) * n + col], sizeof(float));
        __pipeline_commit();
        __pipeline_wait_prior(0);
        __syncthreads();
        for (int k = 0; k < TILE; ++k)
            sum += As[ty][k] * Bs[k][tx];
        __syncthreads();
    }
    C[row * n + col] = sum;
}

// selvage: block=16,16
__global__ void waits_for_all(const float4* A, float* C) {
    __shared__ float4 rows[TILE][TILE];
    int tx = threadIdx.x, ty = threadIdx.y;
    int at = (blockIdx.x * TILE + ty) * TILE + tx;
    unsigned to = __cvta_generic_to_shared(&rows[ty][tx]);
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(to), "l"(A + at) : "memory");
    asm volatile("cp.async.wait_all;" ::: "memory");
    __syncthreads();
    float4 other = rows[tx][ty];
    C[at] = other.x + other.y + other.z + other.w;
}
