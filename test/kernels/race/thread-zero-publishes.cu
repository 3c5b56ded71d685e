// expect: scale_by_first race=proved divergence=proved
// expect: scale_by_first_unordered race=race divergence=proved finding race/shared lines 18,20

// selvage: block=128 grid=8
__global__ void scale_by_first(const float* in, float* out) {
    __shared__ float factor;
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (threadIdx.x == 0) factor = 1.0f / in[i];
    __syncthreads();
    out[i] = in[i] * factor;
}

// selvage: block=128 grid=8
__global__ void scale_by_first_unordered(const float* in, float* out) {
    __shared__ float factor;
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (threadIdx.x == 0) {
        factor = 1.0f / in[i];
    }
    out[i] = in[i] * factor;
}
