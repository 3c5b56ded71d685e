// expect: fill_rows race=proved divergence=proved
// expect: fill_rows finding memory/index-overflow error on out lines 27
// expect: fill_rows_wide race=proved divergence=proved
// expect: fill_rows_wide silent
// expect: fill_rows_wide without memory/index-overflow
// expect: fill_rows_signed race=possible divergence=proved
// expect: fill_rows_signed finding memory/index-overflow error on out lines 38
// expect: rank_of_int race=possible divergence=proved
// expect: rank_of_int finding memory/index-overflow error on out lines 43
// expect: rank_of_size race=proved divergence=proved
// expect: rank_of_size silent
// expect: rank_of_size without memory/index-overflow
// expect: of_unknown_extent race=possible divergence=proved
// expect: of_unknown_extent finding memory/index-overflow error on out lines 53
// expect: steps_of_a_loop race=possible divergence=proved
// expect: few_steps_of_a_loop race=proved divergence=proved
// expect: of_few_rows race=proved divergence=proved
// expect: of_few_rows silent
// expect: of_few_rows without memory/index-overflow
//
// Indices of 32 bits at the numbers of the host program: with some they wrap around, with others they do not.
#include <cuda_runtime.h>

// The product is unsigned, starts again at 0, and names elements of other rows.
__global__ void fill_rows(float* out, int cols) {
    for (int c = threadIdx.x; c < cols; c += blockDim.x)
        out[blockIdx.x * cols + c] = 1.f;
}

__global__ void fill_rows_wide(float* out, int cols) {
    for (int c = threadIdx.x; c < cols; c += blockDim.x)
        out[size_t(blockIdx.x) * cols + c] = 1.f;
}

__global__ void fill_rows_signed(float* out, int cols) {
    int r = blockIdx.x;
    for (int c = threadIdx.x; c < cols; c += blockDim.x)
        out[r * cols + c] = 1.f;
}

__global__ void rank_of_int(char* out) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = 1;
}

__global__ void rank_of_size(char* out) {
    size_t i = blockIdx.x * size_t(blockDim.x) + threadIdx.x;
    out[i] = 1;
}

__global__ void of_unknown_extent(float* out, int cols) {
    int r = blockIdx.x, c = threadIdx.x;
    out[r * cols + c] = 1.f;
}

__global__ void of_few_rows(float* out, int cols) {
    int r = blockIdx.x, c = threadIdx.x;
    out[r * cols + c] = 1.f;
}

// The proof assumes that the product does not wrap around, which it does in the last iterations. The run is too long to show it.
__global__ void steps_of_a_loop(float* out, unsigned n) {
    for (unsigned i = threadIdx.x; i < n; i += blockDim.x)
        out[i * 20000u] = i;
}

__global__ void few_steps_of_a_loop(float* out, unsigned n) {
    for (unsigned i = threadIdx.x; i < n; i += blockDim.x)
        out[i * 20000u] = i;
}

int main() {
    float* rows;
    char* bytes;
    cudaMalloc(&rows, sizeof(float) * 300000ull * 20000);
    cudaMalloc(&bytes, 1ull << 33);
    fill_rows<<<300000, 256>>>(rows, 20000);
    fill_rows_wide<<<300000, 256>>>(rows, 20000);
    fill_rows_signed<<<300000, 256>>>(rows, 20000);
    steps_of_a_loop<<<1, 256>>>(rows, 300000);
    few_steps_of_a_loop<<<1, 256>>>(rows, 200000);
    rank_of_int<<<1 << 24, 256>>>(bytes);
    rank_of_size<<<1 << 24, 256>>>(bytes);
    return cudaDeviceSynchronize();
}

void others(float* rows) {
    of_unknown_extent<<<107376, 256>>>(rows, 20000);
    of_few_rows<<<107375, 256>>>(rows, 20000);
}
