// expect: smooth race=proved divergence=proved finding barrier/early-exit lines 13
// expect: on_one_line race=possible divergence=possible finding barrier/divergent lines 21
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

// The barrier is in the line of the return, on an unknown side of it: no run shows threads that pass it by.
// selvage: block=64 grid=2 arg(n=100)
__global__ void on_one_line(float* a, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return; __syncthreads();
    a[i] = 1.0f;
}
