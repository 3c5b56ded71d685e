// expect: reverse_block race=proved divergence=proved

// selvage: block=256 grid=4
__global__ void reverse_block(const float* in, float* out) {
    __shared__ float s[256];
    int t = threadIdx.x;
    int base = blockIdx.x * blockDim.x;
    s[t] = in[base + t];
    __syncthreads();
    out[base + t] = s[blockDim.x - 1 - t];
}
