// expect: stage_half race=possible divergence=divergent finding barrier/divergent lines 11

// selvage: block=256 grid=2
__global__ void stage_half(const float* in, float* out) {
    __shared__ float s[256];
    int t = threadIdx.x;
    int i = blockIdx.x * blockDim.x + t;
    s[t] = in[i];
    if (t < 128) {
        s[t] *= 2.0f;
        __syncthreads();
    }
    out[i] = s[t];
}
