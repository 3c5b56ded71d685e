// expect: smooth race=proved divergence=proved finding barrier/early-exit lines 12
//
// Threads past the end return before the barrier: legal since sm_70, worth a warning.

// selvage: block=256 grid=4 arg(n=1000)
__global__ void smooth(const float* in, float* out, int n) {
    __shared__ float s[256];
    int t = threadIdx.x;
    int i = blockIdx.x * blockDim.x + t;
    if (i >= n) return;
    s[t] = in[i];
    __syncthreads();
    out[i] = t > 0 ? 0.5f * (s[t] + s[t - 1]) : s[t];
}
