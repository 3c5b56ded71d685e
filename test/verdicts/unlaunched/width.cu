// expect: rows_of_int race=proved divergence=proved
// expect: rows_of_int finding memory/index-overflow notice on out lines 41 when "gridDim.x * cols > 4294967296"
// expect: rows_of_size race=proved divergence=proved
// expect: rows_of_size without memory/index-overflow
// expect: rows_widened_late race=proved divergence=proved
// expect: rows_widened_late finding memory/index-overflow notice on out lines 51 when "gridDim.x * cols > 4294967296"
// expect: matrix_of_int race=proved divergence=proved
// expect: matrix_of_int finding memory/index-overflow notice on in lines 58 when "rows * cols > 2147483648"
// expect: matrix_of_int64 race=proved divergence=proved
// expect: matrix_of_int64 finding memory/index-overflow notice on in lines 65 when "cols > 4294967296"
// expect: matrix_of_small race=proved divergence=proved
// expect: matrix_of_small without memory/index-overflow
// expect: matrix_of_unsigned race=proved divergence=proved
// expect: matrix_of_unsigned finding memory/index-overflow notice on in lines 81 when "rows * cols > 4294967296"
// expect: below_length race=proved divergence=proved
// expect: below_length without memory/index-overflow
// expect: four_each race=proved divergence=proved
// expect: four_each finding memory/index-overflow notice on out lines 95 when "n > 536870912"
// expect: four_each_wide race=proved divergence=proved
// expect: four_each_wide without memory/index-overflow
// expect: planes_of_int race=proved divergence=proved
// expect: planes_of_int finding memory/index-overflow notice on out lines 110 when "gridDim.z * height * width > 4294967296"
// expect: planes_of_size race=proved divergence=proved
// expect: planes_of_size without memory/index-overflow
// expect: bytes_of_int race=proved divergence=proved
// expect: bytes_of_int finding memory/index-overflow notice on out lines 125 when "n > 536870912"
// expect: bytes_of_size race=proved divergence=proved
// expect: bytes_of_size without memory/index-overflow
// expect: hashed_keys race=proved divergence=proved
// expect: hashed_keys without memory/index-overflow
// expect: row_pointer race=proved divergence=proved
// expect: row_pointer without memory/index-overflow
// expect: row_pointer_of_int race=proved divergence=proved
// expect: row_pointer_of_int finding memory/index-overflow notice on out lines 152 when "gridDim.x * cols - cols > 4294967295"
//
// Indices of 32 bits that wrap around from a size on, each next to the same index in 64 bits or below a size that fits.
#include <cstdint>

__global__ void rows_of_int(float* out, int cols) {
    for (int c = threadIdx.x; c < cols; c += blockDim.x)
        out[blockIdx.x * cols + c] = 0.f;
}

__global__ void rows_of_size(float* out, int cols) {
    for (int c = threadIdx.x; c < cols; c += blockDim.x)
        out[static_cast<size_t>(blockIdx.x) * cols + c] = 0.f;
}

__global__ void rows_widened_late(float* out, int cols) {
    for (int c = threadIdx.x; c < cols; c += blockDim.x)
        out[static_cast<size_t>(blockIdx.x * cols + c)] = 0.f;
}

__global__ void matrix_of_int(float* out, const float* in, int rows, int cols) {
    int c = blockIdx.x * blockDim.x + threadIdx.x;
    int r = blockIdx.y * blockDim.y + threadIdx.y;
    if (r < rows && c < cols)
        out[r * cols + c] = in[r * cols + c];
}

__global__ void matrix_of_int64(float* out, const float* in, int64_t rows, int64_t cols) {
    int64_t c = blockIdx.x * blockDim.x + threadIdx.x;
    int64_t r = blockIdx.y * blockDim.y + threadIdx.y;
    if (r < rows && c < cols)
        out[r * cols + c] = in[r * cols + c];
}

// At most 2^30 elements.
// selvage: assume(rows >= 1 && cols >= 1 && rows <= 32768 && cols <= 32768)
__global__ void matrix_of_small(float* out, const float* in, int rows, int cols) {
    int c = blockIdx.x * blockDim.x + threadIdx.x;
    int r = blockIdx.y * blockDim.y + threadIdx.y;
    if (r < rows && c < cols)
        out[r * cols + c] = in[r * cols + c];
}

__global__ void matrix_of_unsigned(float* out, const float* in, unsigned rows, unsigned cols) {
    unsigned c = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned r = blockIdx.y * blockDim.y + threadIdx.y;
    if (r < rows && c < cols)
        out[r * cols + c] = in[r * cols + c];
}

// The length itself is an int, so that no index below it wraps around.
__global__ void below_length(float* out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        out[i] = 0.f;
}

__global__ void four_each(float* out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        for (int k = 0; k < 4; k++)
            out[4 * i + k] = k;
}

__global__ void four_each_wide(float* out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        for (int k = 0; k < 4; k++)
            out[4ll * i + k] = k;
}

// Three factors.
__global__ void planes_of_int(float* out, int height, int width) {
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y;
    if (x < width && y < height)
        out[(blockIdx.z * height + y) * width + x] = 0.f;
}

__global__ void planes_of_size(float* out, int height, int width) {
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y;
    if (x < width && y < height)
        out[(static_cast<size_t>(blockIdx.z) * height + y) * width + x] = 0.f;
}

// The byte offset is what wraps around, a quarter of the elements before the index does.
__global__ void bytes_of_int(char* out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int at = i * static_cast<int>(sizeof(float));
    if (i < n)
        *reinterpret_cast<float*>(out + at) = 0.f;
}

__global__ void bytes_of_size(char* out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    size_t at = i * sizeof(float);
    if (i < n)
        *reinterpret_cast<float*>(out + at) = 0.f;
}

// A hash is meant to wrap around.
__global__ void hashed_keys(unsigned* table, const unsigned* keys, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        atomicAdd(&table[(keys[i] * 2654435761u) >> 20], 1u);
}

// 64 bits for the rows of a block, 32 for the columns of one row.
__global__ void row_pointer(float* out, int cols) {
    float* row = out + static_cast<size_t>(blockIdx.x) * cols;
    for (int c = threadIdx.x; c < cols; c += blockDim.x)
        row[c] = 0.f;
}

__global__ void row_pointer_of_int(float* out, int cols) {
    float* row = out + blockIdx.x * cols;
    for (int c = threadIdx.x; c < cols; c += blockDim.x)
        row[c] = 0.f;
}
