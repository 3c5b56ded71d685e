// expect: layernorm race=proved divergence=proved
// expect: statistics_in_place race=proved divergence=proved
// expect: mean_and_variance_mixed race=race divergence=proved finding race/shared lines 67,69
// expect: sums_not_zeroed_in_time race=race divergence=proved finding race/shared lines 78,80
// expect: mean_of_the_first_warp race=race divergence=proved finding race/shared lines 92,92 finding race/shared lines 92,94
//
// Layer normalisation: mean and variance of each row in two sums over the block, the first through registers and one
// element of shared memory a warp.

__device__ float warp_sum(float x) {
    for (int offset = 16; offset > 0; offset /= 2)
        x += __shfl_down_sync(0xffffffffu, x, offset);
    return x;
}

// The sum over the block, in every thread; a barrier at either end, so that it can be called again.
__device__ float block_sum(float x) {
    __shared__ float warps[32];
    __shared__ float total;
    int t = threadIdx.x;
    x = warp_sum(x);
    if (t % 32 == 0) warps[t / 32] = x;
    __syncthreads();
    if (t < 32) {
        x = t < (blockDim.x + 31) / 32 ? warps[t] : 0.0f;
        x = warp_sum(x);
        if (t == 0) total = x;
    }
    __syncthreads();
    float sum = total;
    __syncthreads();
    return sum;
}

__global__ void layernorm(const float* in, const float* gain, const float* bias, float* out, int width) {
    const float* row = in + blockIdx.x * width;
    float x = 0.0f;
    for (int i = threadIdx.x; i < width; i += blockDim.x)
        x += row[i];
    float mean = block_sum(x) / width;
    x = 0.0f;
    for (int i = threadIdx.x; i < width; i += blockDim.x)
        x += (row[i] - mean) * (row[i] - mean);
    float scale = rsqrtf(block_sum(x) / width + 1e-5f);
    for (int i = threadIdx.x; i < width; i += blockDim.x)
        out[blockIdx.x * width + i] = (row[i] - mean) * scale * gain[i] + bias[i];
}

// Each thread writes elements that only it has read.
__global__ void statistics_in_place(float* data, int width) {
    float x = 0.0f;
    for (int i = threadIdx.x; i < width; i += blockDim.x)
        x += data[blockIdx.x * width + i];
    float mean = block_sum(x) / width;
    for (int i = threadIdx.x; i < width; i += blockDim.x)
        data[blockIdx.x * width + i] -= mean;
}

// selvage: block=128 grid=2
__global__ void mean_and_variance_mixed(const float* in, float* out) {
    __shared__ float warps[4];
    int t = threadIdx.x;
    float x = in[blockIdx.x * 128 + t];
    float sum = warp_sum(x);
    if (t % 32 == 0) warps[t / 32] = sum;
    __syncthreads();
    float mean = (warps[0] + warps[1] + warps[2] + warps[3]) / 128;
    float square = warp_sum((x - mean) * (x - mean));
    if (t % 32 == 0) warps[t / 32] = square;
    __syncthreads();
    out[blockIdx.x * 128 + t] = (x - mean) * rsqrtf(warps[0] + warps[1] + warps[2] + warps[3]);
}

// selvage: block=128 grid=2
__global__ void sums_not_zeroed_in_time(const float* in, float* out) {
    __shared__ float sum;
    int t = threadIdx.x;
    if (t == 0) sum = 0.0f;
    float x = in[blockIdx.x * 128 + t];
    atomicAdd(&sum, x);
    __syncthreads();
    out[blockIdx.x * 128 + t] = x - sum / 128;
}

// selvage: block=128 grid=2
__global__ void mean_of_the_first_warp(const float* in, float* out) {
    __shared__ float mean;
    int t = threadIdx.x;
    float x = in[blockIdx.x * 128 + t];
    float sum = warp_sum(x);
    // Lane 0 of every warp.
    if (t % 32 == 0) mean = sum / 32;
    __syncwarp();
    out[blockIdx.x * 128 + t] = x - mean;
}
