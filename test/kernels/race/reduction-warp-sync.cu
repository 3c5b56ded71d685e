// expect: reduce_warp race=possible divergence=proved
//
// Ordered by __syncwarp(), which is not modelled yet: neither a proof nor a confirmed race may be claimed.

// selvage: block=32 grid=4
__global__ void reduce_warp(const float* in, float* out) {
    __shared__ float s[32];
    const int t = threadIdx.x;
    s[t] = in[blockIdx.x * 32 + t];
    __syncwarp();
    for (int d = 16; d > 0; d >>= 1) {
        float v = t < d ? s[t + d] : 0.0f;
        __syncwarp();
        s[t] += v;
        __syncwarp();
    }
    if (t == 0) out[blockIdx.x] = s[0];
}
