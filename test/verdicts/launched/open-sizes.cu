// expect: shifted_row race=possible divergence=proved
// expect: shifted_row finding memory/out-of-bounds error on row lines 32
// expect: shifted_row_with_room race=proved divergence=proved
// expect: shifted_row_with_room silent
// expect: two_halves race=possible divergence=proved
// expect: two_halves finding memory/out-of-bounds error on both lines 49
// expect: two_whole race=proved divergence=proved
// expect: two_whole silent
// expect: one_tile_per_row race=possible divergence=proved
// expect: one_tile_per_row finding memory/out-of-bounds error on tile lines 66
// expect: one_tile race=proved divergence=proved
// expect: one_tile silent
// expect: without_guard race=possible divergence=proved
// expect: without_guard finding memory/out-of-bounds error on out lines 82
// expect: with_guard race=proved divergence=proved
// expect: with_guard silent
// expect: difference race=possible divergence=proved
// expect: difference finding memory/out-of-bounds error on in lines 92
// expect: difference_to_last race=proved divergence=proved
// expect: difference_to_last silent
// expect: last_of_row race=possible divergence=proved
// expect: last_of_row finding memory/out-of-bounds error on ends lines 104
//
// The host program states how large memory is, as an expression over numbers that it leaves open: each first kernel leaves it in
// all launches, the one after it stays in it.
#include <cuda_runtime.h>

__global__ void shifted_row(float* out, const float* in) {
    extern __shared__ float row[];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    // The last thread stores beyond the last element.
    row[threadIdx.x + 1] = in[i];
    __syncthreads();
    out[i] = threadIdx.x > 0 ? row[threadIdx.x] : 0.f;
}

__global__ void shifted_row_with_room(float* out, const float* in) {
    extern __shared__ float row[];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    row[threadIdx.x + 1] = in[i];
    __syncthreads();
    out[i] = threadIdx.x > 0 ? row[threadIdx.x] : 0.f;
}

// Doubles, in memory for floats.
__global__ void two_halves(double* out, const float* in) {
    extern __shared__ double both[];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    both[threadIdx.x] = in[i];
    __syncthreads();
    out[i] = both[blockDim.x - 1 - threadIdx.x];
}

__global__ void two_whole(double* out, const float* in) {
    extern __shared__ double both[];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    both[threadIdx.x] = in[i];
    __syncthreads();
    out[i] = both[blockDim.x - 1 - threadIdx.x];
}

// Rows of a tile have a column more than the host program reserves.
__global__ void one_tile_per_row(float* out, const float* in) {
    extern __shared__ float tile[];
    int i = blockIdx.x * blockDim.x * blockDim.y + threadIdx.y * blockDim.x + threadIdx.x;
    tile[threadIdx.y * (blockDim.x + 1) + threadIdx.x] = in[i];
    __syncthreads();
    out[i] = tile[threadIdx.y * (blockDim.x + 1)];
}

__global__ void one_tile(float* out, const float* in) {
    extern __shared__ float tile[];
    int i = blockIdx.x * blockDim.x * blockDim.y + threadIdx.y * blockDim.x + threadIdx.x;
    tile[threadIdx.y * (blockDim.x + 1) + threadIdx.x] = in[i];
    __syncthreads();
    out[i] = tile[threadIdx.y * (blockDim.x + 1)];
}

// The last block has threads beyond the last element.
__global__ void without_guard(float* out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = n - i;
}

__global__ void with_guard(float* out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = n - i;
}

__global__ void difference(float* out, const float* in, int n) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        out[i] = in[i + 1] - in[i];
}

__global__ void difference_to_last(float* out, const float* in, int n) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n - 1; i += gridDim.x * blockDim.x)
        out[i] = in[i + 1] - in[i];
}

// One end for each row, and one more.
__global__ void last_of_row(int* ends, int rows) {
    int r = blockIdx.x * blockDim.x + threadIdx.x;
    if (r <= rows)
        ends[r] = r;
}

void launch(float* out, const float* in, double* wide, int blocks, int block, int rows) {
    shifted_row<<<blocks, block, block * sizeof(float)>>>(out, in);
    shifted_row_with_room<<<blocks, block, (block + 1) * sizeof(float)>>>(out, in);
    two_halves<<<blocks, block, block * sizeof(float)>>>(wide, in);
    two_whole<<<blocks, block, block * sizeof(double)>>>(wide, in);
    dim3 square(block, rows);
    one_tile_per_row<<<blocks, square, block * rows * sizeof(float)>>>(out, in);
    one_tile<<<blocks, square, (block + 1) * rows * sizeof(float)>>>(out, in);
}

void allocate(int n, int rows) {
    float *in, *out;
    int* ends;
    cudaMalloc(&in, n * sizeof(float));
    cudaMalloc(&out, n * sizeof(float));
    cudaMalloc(&ends, rows * sizeof(int));
    without_guard<<<(n + 255) / 256, 256>>>(out, n);
    with_guard<<<(n + 255) / 256, 256>>>(out, n);
    difference<<<(n + 255) / 256, 256>>>(out, in, n);
    difference_to_last<<<(n + 255) / 256, 256>>>(out, in, n);
    last_of_row<<<(rows + 255) / 256, 256>>>(ends, rows);
    cudaDeviceSynchronize();
}
