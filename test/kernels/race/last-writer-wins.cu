// expect: pick_any race=race divergence=proved finding race/global lines 6,6

// selvage: block=64 grid=8
__global__ void pick_any(const float* in, float* out) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[blockIdx.x] = in[i];
}
