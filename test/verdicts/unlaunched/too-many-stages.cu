// expect: five_stages_any race=race divergence=proved
// expect: five_stages_any finding race/shared error on rows lines 25
// expect: five_stages_any finding race/shared error on columns lines 26
//
// Four buffers, and copies for five stages: the fifth fills the first buffer again before anything waited for it. Only a
// matrix of more than four tiles shows it.
#include <cuda_pipeline.h>

// selvage: block=16,16,1
__global__ void five_stages_any(float* product, const float* a, const float* b, int width, int columns_of_b) {
    const int tile = 16;
    __shared__ float rows[4][tile][tile];
    __shared__ float columns[4][tile][tile];
    float sum = 0;
    const int begin = width * tile * blockIdx.y;
    const int end = begin + width - 1;
    int stage = 0;
    for (int at = begin, ahead = begin, round = 0; at <= end; at += tile, round++) {
        for (; ahead <= at + 4 * tile; ahead += tile, stage++) {
            if (ahead > end)
                continue;
            const int buffer = stage % 4;
            const float* from = &b[(ahead - begin + threadIdx.y) * columns_of_b + blockIdx.x * tile + threadIdx.x];
            const float* row = &a[ahead + width * threadIdx.y + threadIdx.x];
            __pipeline_memcpy_async(&rows[buffer][threadIdx.y][threadIdx.x], row, 4);
            __pipeline_memcpy_async(&columns[buffer][threadIdx.y][threadIdx.x], from, 4);
            __pipeline_commit();
        }
        __pipeline_wait_prior(0);
        __syncthreads();
        for (int k = 0; k < tile; k++)
            sum += rows[round % 4][threadIdx.y][k] * columns[round % 4][k][threadIdx.x];
        __syncthreads();
    }
    product[(blockIdx.y * tile + threadIdx.y) * columns_of_b + blockIdx.x * tile + threadIdx.x] = sum;
}
