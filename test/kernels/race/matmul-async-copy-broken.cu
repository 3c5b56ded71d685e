// expect: no_wait race=race divergence=proved finding race/shared lines 21,21 finding race/shared lines 22,22 finding race/shared lines 21,26 finding race/shared lines 22,26
// expect: waits_for_too_few race=race divergence=proved finding race/shared lines 40,40 finding race/shared lines 41,41 finding race/shared lines 40,47 finding race/shared lines 41,47
// expect: wait_behind_barrier race=race divergence=proved finding race/shared lines 61,68 finding race/shared lines 62,68
// expect: no_barrier_before_reuse race=race divergence=proved finding race/shared lines 82,88 finding race/shared lines 83,88
// expect: reads_its_own_too_early race=race divergence=proved finding race/shared lines 99,100
//
// Products with cp.async that take data too early or overwrite it too early: copies go on by themselves until they are
// waited for, by the thread that started them and before the barrier.
#include <cuda_pipeline_primitives.h>

#define TILE 16

// selvage: block=16,16 grid=2,2 arg(n=64)
__global__ void no_wait(const float* A, const float* B, float* C, int n) {
    __shared__ float As[TILE][TILE];
    __shared__ float Bs[TILE][TILE];
    int tx = threadIdx.x, ty = threadIdx.y;
    int row = blockIdx.y * TILE + ty, col = blockIdx.x * TILE + tx;
    float sum = 0.0f;
    for (int m = 0; m < n / TILE; ++m) {
        __pipeline_memcpy_async(&As[ty][tx], &A[row * n + m * TILE + tx], sizeof(float));
        __pipeline_memcpy_async(&Bs[ty][tx], &B[(m * TILE + ty) * n + col], sizeof(float));
        __pipeline_commit();
        __syncthreads();
        for (int k = 0; k < TILE; ++k)
            sum += As[ty][k] * Bs[k][tx];
        __syncthreads();
    }
    C[row * n + col] = sum;
}

// selvage: block=16,16 grid=2,2 arg(n=64)
__global__ void waits_for_too_few(const float* A, const float* B, float* C, int n) {
    __shared__ float As[TILE][TILE];
    __shared__ float Bs[TILE][TILE];
    int tx = threadIdx.x, ty = threadIdx.y;
    int row = blockIdx.y * TILE + ty, col = blockIdx.x * TILE + tx;
    float sum = 0.0f;
    for (int m = 0; m < n / TILE; ++m) {
        __pipeline_memcpy_async(&As[ty][tx], &A[row * n + m * TILE + tx], sizeof(float));
        __pipeline_memcpy_async(&Bs[ty][tx], &B[(m * TILE + ty) * n + col], sizeof(float));
        __pipeline_commit();
        // All but one: the newest may still be on its way.
        __pipeline_wait_prior(1);
        __syncthreads();
        for (int k = 0; k < TILE; ++k)
            sum += As[ty][k] * Bs[k][tx];
        __syncthreads();
    }
    C[row * n + col] = sum;
}

// selvage: block=16,16 grid=2,2 arg(n=64)
__global__ void wait_behind_barrier(const float* A, const float* B, float* C, int n) {
    __shared__ float As[TILE][TILE];
    __shared__ float Bs[TILE][TILE];
    int tx = threadIdx.x, ty = threadIdx.y;
    int row = blockIdx.y * TILE + ty, col = blockIdx.x * TILE + tx;
    float sum = 0.0f;
    for (int m = 0; m < n / TILE; ++m) {
        __pipeline_memcpy_async(&As[ty][tx], &A[row * n + m * TILE + tx], sizeof(float));
        __pipeline_memcpy_async(&Bs[ty][tx], &B[(m * TILE + ty) * n + col], sizeof(float));
        __pipeline_commit();
        __syncthreads();
        // Waits for one's own copies, not for those of the others.
        __pipeline_wait_prior(0);
        for (int k = 0; k < TILE; ++k)
            sum += As[ty][k] * Bs[k][tx];
        __syncthreads();
    }
    C[row * n + col] = sum;
}

// selvage: block=16,16 grid=2,2 arg(n=64)
__global__ void no_barrier_before_reuse(const float* A, const float* B, float* C, int n) {
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
    }
    C[row * n + col] = sum;
}

// Not even a thread's own copy is ordered with what it reads.
// selvage: block=256 grid=2
__global__ void reads_its_own_too_early(const float4* A, float* C) {
    __shared__ float4 own[256];
    int t = threadIdx.x;
    unsigned to = __cvta_generic_to_shared(&own[t]);
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(to), "l"(A + t) : "memory");
    C[blockIdx.x * 256 + t] = own[t].x;
    asm volatile("cp.async.wait_all;" ::: "memory");
}
