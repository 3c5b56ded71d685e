// expect: smooth race=proved divergence=proved
//
// Two shared arrays whose pointers are swapped after every step.

// selvage: block=64 grid=4
__global__ void smooth(const float* in, float* out, int steps) {
    __shared__ float a[64];
    __shared__ float b[64];
    int t = threadIdx.x;
    float* src = a;
    float* dst = b;
    src[t] = in[blockIdx.x * 64 + t];
    __syncthreads();
    for (int k = 0; k < steps; ++k) {
        int left = t == 0 ? 63 : t - 1;
        dst[t] = 0.5f * (src[left] + src[t]);
        __syncthreads();
        float* swap = src;
        src = dst;
        dst = swap;
    }
    out[blockIdx.x * 64 + t] = src[t];
}
