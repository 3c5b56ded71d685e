// expect: dot_blocks race=proved divergence=proved
//
// Two arrays carved from one dynamic allocation.

// selvage: block=256 grid=4 shared=2048
__global__ void dot_blocks(const float* x, const float* y, float* out) {
    extern __shared__ float buffer[];
    float* xs = buffer;
    float* ys = buffer + blockDim.x;
    int t = threadIdx.x;
    int i = blockIdx.x * blockDim.x + t;
    xs[t] = x[i];
    ys[t] = y[i];
    __syncthreads();
    out[i] = xs[t] * ys[blockDim.x - 1 - t];
}
