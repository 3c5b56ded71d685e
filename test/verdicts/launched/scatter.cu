// expect: scatter race=possible divergence=proved
// expect: scatter finding race/global notice on out lines 35
// expect: scatter_in_block race=possible divergence=proved
// expect: scatter_in_block finding race/global notice on out lines 45
// expect: scatter_ranks race=race divergence=proved
// expect: scatter_ranks finding race/global error on out lines 57
// expect: scatter_cleared race=race divergence=proved
// expect: scatter_cleared finding race/global error on out lines 65
// expect: scatter_counted race=proved divergence=proved
// expect: scatter_counted silent
// expect: scatter_moved race=race divergence=proved
// expect: scatter_moved finding race/global warning on out lines 82
//
// Values are sorted by a table of counters. It starts with the sums of the counts, so that the numbers of two counters differ; a table
// that starts with zeros gives two bins one number.
#include <cuda_runtime.h>

__global__ void scatter(int* out, int* offsets, const int* bins, int n);
__global__ void scatter_in_block(int* out, const int* start, const int* bins, int n);
__global__ void scatter_ranks(int* out, const unsigned char* bins, int n);
__global__ void scatter_cleared(int* out, int* offsets, const int* bins, int n);
__global__ void scatter_counted(int* out, int* count, const int* in, int n);
__global__ void scatter_moved(int* out, int* offsets, const int* bins, int n);

void run(int* out, int* offsets, int* start, const int* bins, int n) {
    scatter<<<80, 256>>>(out, offsets, bins, n);
    scatter_in_block<<<n / 256, 256>>>(out, start, bins, n);
}

// The usual second pass of a counting sort.
__global__ void scatter(int* out, int* offsets, const int* bins, int n) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        int bin = bins[i];
        int at = atomicAdd(&offsets[bin], 1);
        out[at] = i;
    }
}

__global__ void scatter_in_block(int* out, const int* start, const int* bins, int n) {
    __shared__ int offsets[256];
    offsets[threadIdx.x] = start[blockIdx.x * 256 + threadIdx.x];
    __syncthreads();
    int i = blockIdx.x * 256 + threadIdx.x;
    if (i < n)
        out[atomicAdd(&offsets[bins[i]], 1)] = i;
}

// The number of a value in its bin is not its place.
__global__ void scatter_ranks(int* out, const unsigned char* bins, int n) {
    __shared__ int ranks[256];
    ranks[threadIdx.x] = 0;
    __syncthreads();
    int i = blockIdx.x * 256 + threadIdx.x;
    int at = 0;
    if (i < n)
        at = atomicAdd(&ranks[bins[i]], 1);
    if (i < n) out[at] = i;
}

// The host program fills the table with zeros.
__global__ void scatter_cleared(int* out, int* offsets, const int* bins, int n) {
    int i = blockIdx.x * 256 + threadIdx.x;
    if (i >= n)
        return;
    out[atomicAdd(&offsets[bins[i] & 63], 1)] = i;
}

// One counter for all.
__global__ void scatter_counted(int* out, int* count, const int* in, int n) {
    int i = blockIdx.x * 256 + threadIdx.x;
    if (i < n && in[i] > 0)
        out[atomicAdd(count, 1)] = i;
}

// Where a value is read is not where another thread has written one.
__global__ void scatter_moved(int* out, int* offsets, const int* bins, int n) {
    int i = blockIdx.x * 256 + threadIdx.x;
    if (i >= n)
        return;
    int at = atomicAdd(&offsets[bins[i]], 1);

    out[at] += i;
}

void launch(int* out, unsigned char* bytes, const int* bins, int* count, int* free, int n) {
    int* offsets;
    cudaMalloc(&offsets, 64 * sizeof(int));
    cudaMemset(offsets, 0, 64 * sizeof(int));
    scatter_cleared<<<n / 256, 256>>>(out, offsets, bins, n);
    scatter_ranks<<<n / 256, 256>>>(out, bytes, n);
    scatter_counted<<<n / 256, 256>>>(out, count, bins, n);
    scatter_moved<<<n / 256, 256>>>(out, free, bins, n);
}
