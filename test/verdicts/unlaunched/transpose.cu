// expect: transpose_any race=proved divergence=proved
// expect: transpose_any silent
// expect: transpose_any precondition "blockDim.x <= 32"
// expect: transpose_any precondition "blockDim.y <= 8"
// expect: transpose_no_barrier_any race=race divergence=proved
// expect: transpose_no_barrier_any finding race/shared error on tile lines 39,44
// expect: transpose_direct_any race=proved divergence=proved
// expect: transpose_direct_any silent
// expect: transpose_stride_any race=race divergence=proved
// expect: transpose_stride_any finding race/global warning on out lines 57 when "h > w"
// expect: transpose_pitch_any race=proved divergence=proved
// expect: transpose_pitch_any silent
// expect: transpose_pitch_any precondition "pitch >= h"
// expect: transpose_swap_any race=proved divergence=proved
// expect: transpose_swap_any silent
// expect: transpose_in_place_any race=race divergence=proved
// expect: transpose_in_place_any finding race/global error on a lines 81,82

// Blocks of 32 x 8 threads: larger ones would store elements of the tile twice.
__global__ void transpose_any(float* out, const float* in, int w, int h) {
    __shared__ float tile[32][32];
    int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 32 + threadIdx.y;
    for (int j = 0; j < 32; j += 8)
        if (x < w && y + j < h)
            tile[threadIdx.y + j][threadIdx.x] = in[(y + j) * w + x];
    __syncthreads();
    x = blockIdx.y * 32 + threadIdx.x;
    y = blockIdx.x * 32 + threadIdx.y;
    for (int j = 0; j < 32; j += 8)
        if (x < h && y + j < w)
            out[(y + j) * h + x] = tile[threadIdx.x][threadIdx.y + j];
}

__global__ void transpose_no_barrier_any(float* out, const float* in, int w, int h) {
    __shared__ float tile[32][32];
    int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 32 + threadIdx.y;
    for (int j = 0; j < 32; j += 8)
        if (x < w && y + j < h)
            tile[threadIdx.y + j][threadIdx.x] = in[(y + j) * w + x];
    x = blockIdx.y * 32 + threadIdx.x;
    y = blockIdx.x * 32 + threadIdx.y;
    for (int j = 0; j < 32; j += 8)
        if (x < h && y + j < w)
            out[(y + j) * h + x] = tile[threadIdx.x][threadIdx.y + j];
}

__global__ void transpose_direct_any(float* out, const float* in, int w, int h) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < w && y < h)
        out[x * h + y] = in[y * w + x];
}

// The incorrect stride. It also bounds the other index, so neither order of w and h is more representative.
__global__ void transpose_stride_any(float* out, const float* in, int w, int h) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < w && y < h)
        out[x * w + y] = in[y * w + x];
}

// A stride that bounds no index is at least the extent below it.
__global__ void transpose_pitch_any(float* out, const float* in, int w, int h, int pitch) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < w && y < h)
        out[x * pitch + y] = in[y * w + x];
}

// One thread for each pair above the diagonal.
__global__ void transpose_swap_any(float* a, int n) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < n && y < x) {
        float v = a[y * n + x];
        a[y * n + x] = a[x * n + y];
        a[x * n + y] = v;
    }
}

// Both threads of a pair move an element at which the other one reads.
__global__ void transpose_in_place_any(float* a, int n) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < n && y < n) {
        float v = a[y * n + x];
        a[x * n + y] = v;
    }
}
