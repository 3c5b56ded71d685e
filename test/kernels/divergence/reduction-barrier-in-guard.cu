// expect: reduce race=possible divergence=divergent finding barrier/divergent lines 14
//
// The closing brace of the guard is one line too low.

// selvage: block=128 grid=4
__global__ void reduce(const float* in, float* out) {
    __shared__ float s[128];
    int t = threadIdx.x;
    s[t] = in[blockIdx.x * blockDim.x + t];
    __syncthreads();
    for (int d = blockDim.x / 2; d > 0; d >>= 1) {
        if (t < d) {
            s[t] += s[t + d];
            __syncthreads();
        }
    }
    if (t == 0) out[blockIdx.x] = s[0];
}
