// expect: copy_items<int> race=proved divergence=proved
// expect: copy_items<int> without memory/index-overflow
// expect: copy_items<long> race=proved divergence=proved
// expect: copy_items<long> finding memory/index-overflow notice on in lines 40 when "items > 2147483648"
// expect: copy_items_wide<long> race=proved divergence=proved
// expect: copy_items_wide<long> without memory/index-overflow
// expect: copy_below_unsigned race=proved divergence=proved
// expect: copy_below_unsigned without memory/index-overflow
// expect: copy_tiles<long> race=proved divergence=proved
// expect: copy_tiles<long> precondition "blockDim.x <= 256"
// expect: copy_tiles<long> finding memory/index-overflow notice on in lines 68 when "gridDim.x > 1048576"
// expect: copy_tiles_wide<long> race=proved divergence=proved
// expect: copy_tiles_wide<long> precondition "blockDim.x <= 256"
// expect: copy_tiles_wide<long> without memory/index-overflow
// expect: bytes_of_rank race=proved divergence=proved
// expect: bytes_of_rank finding memory/index-overflow notice on out lines 89 when "items > 268435456"
// expect: bytes_of_rank_wide race=proved divergence=proved
// expect: bytes_of_rank_wide without memory/index-overflow
// expect: states_after_header race=proved divergence=proved
// expect: states_after_header finding memory/misaligned notice on storage lines 102
// expect: states_after_rounded race=proved divergence=proved
// expect: states_after_rounded without memory/misaligned
// expect: widened_by_variable race=proved divergence=proved
// expect: widened_by_variable finding memory/index-overflow notice on in lines 117 when "rows * cols > 2147483648"
// expect: widened_by_result race=proved divergence=proved
// expect: widened_by_result finding memory/index-overflow notice on out lines 128 when "rows * cols > 2147483648"
// expect: widened_before race=proved divergence=proved
// expect: widened_before without memory/index-overflow
// expect: copy_over_grid race=proved divergence=proved
// expect: copy_over_grid without memory/index-overflow
//
// Numbers of elements of 64 bits, and indices of 32: what reviews of device libraries ask for, broken next to right.
#include <cstdint>

// The rank of a thread is an int, the number of items is not.
template <typename Offset>
__global__ void copy_items(float* out, const float* in, Offset items) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < items)
        out[i] = in[i];
}

template <typename Offset>
__global__ void copy_items_wide(float* out, const float* in, Offset items) {
    Offset i = static_cast<Offset>(blockIdx.x) * blockDim.x + threadIdx.x;
    if (i < items)
        out[i] = in[i];
}

template __global__ void copy_items<int64_t>(float*, const float*, int64_t);
template __global__ void copy_items<int>(float*, const float*, int);
template __global__ void copy_items_wide<int64_t>(float*, const float*, int64_t);

// Above 2^31 the rank is below 0, as an unsigned number above every length: the access is not performed.
__global__ void copy_below_unsigned(float* out, const float* in, uint64_t items) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < items)
        out[i] = in[i];
}

// The first item of a tile is widened after the product.
template <typename Offset>
__global__ void copy_tiles(float* out, const float* in, Offset items) {
    Offset first = blockIdx.x * 4096;
    for (int k = 0; k < 16; k++) {
        Offset i = first + k * 256 + threadIdx.x;
        if (i < items)
            out[i] = in[i];
    }
}

template <typename Offset>
__global__ void copy_tiles_wide(float* out, const float* in, Offset items) {
    Offset first = static_cast<Offset>(blockIdx.x) * 4096;
    for (int k = 0; k < 16; k++) {
        Offset i = first + k * 256 + threadIdx.x;
        if (i < items)
            out[i] = in[i];
    }
}

template __global__ void copy_tiles<int64_t>(float*, const float*, int64_t);
template __global__ void copy_tiles_wide<int64_t>(float*, const float*, int64_t);

// An index of elements that fits, and a byte offset of it that does not.
__global__ void bytes_of_rank(char* out, int items) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < items)
        *reinterpret_cast<double*>(out + i * static_cast<int>(sizeof(double))) = i;
}

__global__ void bytes_of_rank_wide(char* out, int items) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < items)
        *reinterpret_cast<double*>(out + i * sizeof(double)) = i;
}

// States of 16 bytes after a header of temporary storage.
__global__ void states_after_header(char* storage, const uint4* in, int tiles, int header) {
    int t = blockIdx.x * blockDim.x + threadIdx.x;
    if (t < tiles)
        reinterpret_cast<uint4*>(storage + header)[t] = in[t];
}

__global__ void states_after_rounded(char* storage, const uint4* in, int tiles, int header) {
    int t = blockIdx.x * blockDim.x + threadIdx.x;
    if (t < tiles)
        reinterpret_cast<uint4*>(storage + (header + 15) / 16 * 16)[t] = in[t];
}

// The product is widened by the type of the variable or of the result.
__global__ void widened_by_variable(int* out, const int* in, int rows, int cols) {
    int c = blockIdx.x * blockDim.x + threadIdx.x;
    int r = blockIdx.y;
    size_t at = r * cols + c;
    if (r < rows && c < cols)
        out[at] = in[at];
}

__device__ size_t element_at(int r, int cols, int c) {
    return r * cols + c;
}

__global__ void widened_by_result(int* out, int rows, int cols) {
    int c = blockIdx.x * blockDim.x + threadIdx.x;
    int r = blockIdx.y;
    if (r < rows && c < cols)
        out[element_at(r, cols, c)] = 1;
}

__global__ void widened_before(int* out, const int* in, int rows, int cols) {
    int c = blockIdx.x * blockDim.x + threadIdx.x;
    int r = blockIdx.y;
    size_t at = static_cast<size_t>(r) * cols + c;
    if (r < rows && c < cols)
        out[at] = in[at];
}

// The grid is as large as the device needs, and no thread has a rank above that.
__global__ void copy_over_grid(float* out, const float* in, size_t items) {
    for (size_t i = blockIdx.x * blockDim.x + threadIdx.x; i < items; i += gridDim.x * blockDim.x)
        out[i] = in[i];
}
