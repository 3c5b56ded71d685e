// expect: prefix_window race=proved divergence=proved
// expect: add_window race=race divergence=proved finding race/shared lines 28,28
//
// Reading a window is free; adding into it is not.

// selvage: block=64 grid=4
__global__ void prefix_window(const float* in, float* out) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = 0.0f;
    int k = 0;
    do {
        sum += in[i + k];
        ++k;
    } while (k < 4);
    out[i] = sum;
}

// selvage: block=64 grid=4
__global__ void add_window(const float* in, float* out) {
    __shared__ float s[68];
    int t = threadIdx.x;
    int i = blockIdx.x * blockDim.x + t;
    s[t] = 0.0f;
    if (t < 4) s[64 + t] = 0.0f;
    __syncthreads();
    int k = 0;
    do {
        s[t + k] += in[i];
        ++k;
    } while (k < 4);
    __syncthreads();
    out[i] = s[t];
}
