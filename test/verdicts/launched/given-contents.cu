// expect: add_missing_bias race=possible divergence=proved
// expect: add_missing_bias finding memory/out-of-bounds error on bias lines 25
// expect: add_bias_if_any race=proved divergence=proved
// expect: add_bias_if_any silent
// expect: add_bias_if_asked race=proved divergence=proved
// expect: add_bias_if_asked silent
// expect: pick_rows race=possible divergence=proved
// expect: pick_rows finding memory/out-of-bounds error on in lines 47
// expect: pick_own_rows race=proved divergence=proved
// expect: pick_own_rows silent
// expect: pick_rows_of_int race=possible divergence=proved
// expect: pick_rows_of_int finding memory/out-of-bounds error on in lines 64
// expect: pick_positive_rows race=proved divergence=proved
// expect: pick_positive_rows silent
//
// What the host program passes, known to the last element: null pointers, and tables of rows.
#include <cuda_runtime.h>


// The launch passes no bias.
__global__ void add_missing_bias(float* out, const float* in, const float* bias, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        float x = in[i];
        x += bias[i % 4];
        out[i] = x;
    }
}

__global__ void add_bias_if_any(float* out, const float* in, const float* bias, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        out[i] = bias != nullptr ? in[i] + bias[i % 4] : in[i];
}

__global__ void add_bias_if_asked(float* out, const float* in, const float* bias, int n, int hasBias) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        out[i] = hasBias ? in[i] + bias[i % 4] : in[i];
}

// The table names row 12 of 8.
__global__ void pick_rows(float* out, const float* in, const int* rows, int columns) {
    int row = rows[blockIdx.x];
    for (int c = threadIdx.x; c < columns; c += blockDim.x)
        out[blockIdx.x * columns + c] =
            in[row * columns + c];
}

__global__ void pick_own_rows(float* out, const float* in, const int* rows, int columns) {
    int row = rows[blockIdx.x];
    for (int c = threadIdx.x; c < columns; c += blockDim.x)
        out[blockIdx.x * columns + c] = in[row * columns + c];
}

// The product wraps around to a number below 0.
__global__ void pick_rows_of_int(float* out, const float* in, const int* rows, int columns) {
    int row = rows[blockIdx.x];
    int first = row * 1000000;
    int c = threadIdx.x;
    if (c < columns)
        out[blockIdx.x * columns + c] =
            // Row 3000.
            in[first + c];
}

__global__ void pick_positive_rows(float* out, const float* in, const int* rows, int columns) {
    int row = rows[blockIdx.x];
    int c = threadIdx.x;
    if (c < columns && row >= 0)
        out[blockIdx.x * columns + c] = in[row * columns + c];
}

int main() {
    float *in, *out;
    int* table;
    cudaMalloc(&in, 8 * 64 * sizeof(float));
    cudaMalloc(&out, 8 * 64 * sizeof(float));
    cudaMalloc(&table, 4 * sizeof(int));
    add_missing_bias<<<2, 256>>>(out, in, nullptr, 512);
    add_bias_if_any<<<2, 256>>>(out, in, nullptr, 512);
    add_bias_if_asked<<<2, 256>>>(out, in, nullptr, 512, 0);
    int rows[4] = {12, 3, 0, 7}, own[4] = {2, 3, 0, 7}, far[4] = {3000, 1, 2, 3}, some[4] = {-1, 3, -1, 7};
    cudaMemcpy(table, rows, sizeof(rows), cudaMemcpyHostToDevice);
    pick_rows<<<4, 64>>>(out, in, table, 64);
    cudaMemcpy(table, own, sizeof(own), cudaMemcpyHostToDevice);
    pick_own_rows<<<4, 64>>>(out, in, table, 64);
    cudaMemcpy(table, far, sizeof(far), cudaMemcpyHostToDevice);
    pick_rows_of_int<<<4, 64>>>(out, in, table, 64);
    cudaMemcpy(table, some, sizeof(some), cudaMemcpyHostToDevice);
    pick_positive_rows<<<4, 64>>>(out, in, table, 64);
    return cudaDeviceSynchronize();
}
