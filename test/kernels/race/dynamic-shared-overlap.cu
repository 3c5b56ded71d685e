// expect: dot_blocks race=race divergence=proved finding race/shared lines 12,13
//
// The second array starts in the middle of the first.

// selvage: block=256 grid=4 shared=2048
__global__ void dot_blocks(const float* x, const float* y, float* out) {
    extern __shared__ float buffer[];
    float* xs = buffer;
    float* ys = buffer + blockDim.x / 2;
    int t = threadIdx.x;
    int i = blockIdx.x * blockDim.x + t;
    xs[t] = x[i];
    ys[t] = y[i];
    __syncthreads();
    out[i] = xs[t] * ys[t];
}
