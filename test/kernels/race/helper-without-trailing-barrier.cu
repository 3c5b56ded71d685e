// expect: mean race=race divergence=proved finding race/shared lines 7,13
//
// The second call of the helper overwrites elements that slow threads still read for the first.

__device__ float block_reduce(float* s, float v) {
    int t = threadIdx.x;
    s[t] = v;
    __syncthreads();
    for (int d = blockDim.x / 2; d > 0; d /= 2) {
        if (t < d) s[t] += s[t + d];
        __syncthreads();
    }
    return s[0];
}

// selvage: block=128 grid=4
__global__ void mean(const float* in, float* mean_out, float* variance_out) {
    __shared__ float scratch[128];
    float v = in[blockIdx.x * blockDim.x + threadIdx.x];
    float m = block_reduce(scratch, v) / blockDim.x;
    float d = v - m;
    float q = block_reduce(scratch, d * d) / blockDim.x;
    if (threadIdx.x == 0) {
        mean_out[blockIdx.x] = m;
        variance_out[blockIdx.x] = q;
    }
}
