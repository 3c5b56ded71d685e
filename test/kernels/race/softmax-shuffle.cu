// expect: row_per_warp race=proved divergence=proved
// expect: row_per_block race=proved divergence=proved
// expect: maximum_and_sum_share race=race divergence=proved finding race/shared lines 75,80
// expect: result_without_barrier race=race divergence=proved finding race/shared lines 91,92
// expect: rows_overlap race=race divergence=proved finding race/global lines 101,101
//
// Softmax of rows: a row a warp needs no shared memory; a row a block carries maximum and sum across the warps in one
// array, which takes a barrier on either side.

__device__ float warp_maximum(float x) {
    for (int offset = 16; offset > 0; offset /= 2)
        x = fmaxf(x, __shfl_xor_sync(0xffffffffu, x, offset));
    return x;
}

__device__ float warp_sum(float x) {
    for (int offset = 16; offset > 0; offset /= 2)
        x += __shfl_xor_sync(0xffffffffu, x, offset);
    return x;
}

// selvage: block=32,4
__global__ void row_per_warp(const float* in, float* out, int width, int rows) {
    int lane = threadIdx.x;
    int row = blockIdx.x * blockDim.y + threadIdx.y;
    if (row >= rows) return;
    float most = -1e30f;
    for (int i = lane; i < width; i += 32)
        most = fmaxf(most, in[row * width + i]);
    most = warp_maximum(most);
    float sum = 0.0f;
    for (int i = lane; i < width; i += 32)
        sum += __expf(in[row * width + i] - most);
    sum = warp_sum(sum);
    for (int i = lane; i < width; i += 32)
        out[row * width + i] = __expf(in[row * width + i] - most) / sum;
}

// selvage: block=256
__global__ void row_per_block(const float* in, float* out, int width) {
    __shared__ float warps[8];
    int t = threadIdx.x, row = blockIdx.x;
    float most = -1e30f;
    for (int i = t; i < width; i += blockDim.x)
        most = fmaxf(most, in[row * width + i]);
    most = warp_maximum(most);
    if (t % 32 == 0) warps[t / 32] = most;
    __syncthreads();
    most = warp_maximum(warps[t % 8]);
    __syncthreads();
    float sum = 0.0f;
    for (int i = t; i < width; i += blockDim.x)
        sum += __expf(in[row * width + i] - most);
    sum = warp_sum(sum);
    if (t % 32 == 0) warps[t / 32] = sum;
    __syncthreads();
    sum = 0.0f;
    for (int w = 0; w < 8; ++w)
        sum += warps[w];
    for (int i = t; i < width; i += blockDim.x)
        out[row * width + i] = __expf(in[row * width + i] - most) / sum;
}

// selvage: block=256 grid=2 arg(width=300)
__global__ void maximum_and_sum_share(const float* in, float* out, int width) {
    __shared__ float warps[8];
    int t = threadIdx.x, row = blockIdx.x;
    float most = -1e30f;
    for (int i = t; i < width; i += blockDim.x)
        most = fmaxf(most, in[row * width + i]);
    most = warp_maximum(most);
    if (t % 32 == 0) warps[t / 32] = most;
    __syncthreads();
    for (int w = 0; w < 8; ++w)
        most = fmaxf(most, warps[w]);
    float sum = 0.0f;
    for (int i = t; i < width; i += blockDim.x)
        sum += in[row * width + i] - most;
    sum = warp_sum(sum);
    if (t % 32 == 0) warps[t / 32] = sum;
    __syncthreads();
    out[row * blockDim.x + t] = warps[t % 8];
}

// selvage: block=128 grid=2
__global__ void result_without_barrier(const float* in, float* out) {
    __shared__ float most;
    int t = threadIdx.x;
    float x = in[blockIdx.x * blockDim.x + t];
    float best = warp_maximum(x);
    if (t == 0) most = best;
    out[blockIdx.x * blockDim.x + t] = x - most;
}

// The tail of a row, rounded up to whole warps, runs into the next one.
// selvage: block=32,4 grid=2 arg(width=40)
__global__ void rows_overlap(const float* in, float* out, int width) {
    int lane = threadIdx.x;
    int row = blockIdx.x * blockDim.y + threadIdx.y;
    for (int i = lane; i < (width + 31) / 32 * 32; i += 32)
        out[row * width + i] = row + warp_maximum(in[row * width + i]);
}
