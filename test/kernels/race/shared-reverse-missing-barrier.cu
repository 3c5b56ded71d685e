// expect: reverse_block race=race divergence=proved finding race/shared lines 8,9

// selvage: block=256 grid=4
__global__ void reverse_block(const float* in, float* out) {
    __shared__ float s[256];
    int t = threadIdx.x;
    int base = blockIdx.x * blockDim.x;
    s[t] = in[base + t];
    out[base + t] = s[blockDim.x - 1 - t];
}
