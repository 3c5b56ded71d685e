// expect: reduce race=race divergence=proved finding race/shared lines 15,15
//
// Nothing separates one halving step from the next.

// selvage: block=256 grid=16 arg(n=4096)
__global__ void reduce(const float* in, float* out, int n) {
    __shared__ float sdata[256];
    unsigned int t = threadIdx.x;
    unsigned int i = blockIdx.x * blockDim.x + threadIdx.x;
    sdata[t] = i < n ? in[i] : 0.0f;
    __syncthreads();

    for (unsigned int s = blockDim.x / 2; s > 0; s >>= 1) {
        if (t < s) {
            sdata[t] += sdata[t + s];
        }
    }

    if (t == 0) out[blockIdx.x] = sdata[0];
}
