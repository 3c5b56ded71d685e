// expect: scale_rows_of_count race=proved divergence=proved
// expect: scale_rows_of_count finding memory/index-overflow notice on in lines 14 when "gridDim.x * columns > 4294967296"
// expect: scale_rows_of_count_wide race=proved divergence=proved
// expect: scale_rows_of_count_wide without memory/index-overflow
// expect: scale_few_rows race=proved divergence=proved
// expect: scale_few_rows without memory/index-overflow
//
// The grid has a block for each row, whose number is an argument that the kernel does not read.
#include <algorithm>
#include <cuda_runtime.h>

__global__ void scale_rows_of_count(float* out, const float* in, float factor, int rows, int columns) {
    for (int c = threadIdx.x; c < columns; c += blockDim.x)
        out[blockIdx.x * columns + c] = factor * in[blockIdx.x * columns + c];
}

__global__ void scale_rows_of_count_wide(float* out, const float* in, float factor, int rows, int columns) {
    const size_t row = blockIdx.x;
    for (int c = threadIdx.x; c < columns; c += blockDim.x)
        out[row * columns + c] = factor * in[row * columns + c];
}

// At most 2^31 elements.
__global__ void scale_few_rows(float* out, const float* in, float factor, int rows, int columns) {
    for (int c = threadIdx.x; c < columns; c += blockDim.x)
        out[blockIdx.x * columns + c] = factor * in[blockIdx.x * columns + c];
}

void scale(float* out, const float* in, int rows, int columns) {
    if (rows < 1 || columns < 1)
        return;
    dim3 grid(rows), block(std::min(columns, 1024));
    scale_rows_of_count<<<grid, block>>>(out, in, 2.f, rows, columns);
    scale_rows_of_count_wide<<<grid, block>>>(out, in, 2.f, rows, columns);
    if (rows <= 65536 && columns <= 32768)
        scale_few_rows<<<grid, block>>>(out, in, 2.f, rows, columns);
}
