// expect: running_total race=possible divergence=divergent finding barrier/divergent lines 12
//
// 1000 elements, 256 threads: not all threads execute the last iteration.

// selvage: block=256 grid=1 arg(n=1000)
__global__ void running_total(const float* in, float* out, int n) {
    __shared__ float s[256];
    int t = threadIdx.x;
    s[t] = 0.0f;
    for (int i = t; i < n; i += blockDim.x) {
        s[t] += in[i];
        __syncthreads();
    }
    out[t] = s[t];
}
