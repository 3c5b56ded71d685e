// expect: reduce_tail race=race divergence=proved finding race/shared lines 14,14
//
// The last warp relies on lockstep, which no architecture since sm_70 promises.

// selvage: block=128 grid=4
__global__ void reduce_tail(const float* in, float* out) {
    __shared__ float s[128];
    const int t = threadIdx.x;
    s[t] = in[blockIdx.x * blockDim.x + t];
    __syncthreads();
    if (t < 64) s[t] += s[t + 64];
    __syncthreads();
    if (t < 32) {
        for (int d = 32; d > 0; d >>= 1) s[t] += s[t + d];
    }
    if (t == 0) out[blockIdx.x] = s[0];
}
