// expect: batched_bias race=proved divergence=proved
// expect: batched_bias_pitch race=race divergence=proved finding race/global lines 19,19
//
// Batches of rows; a pitch one too small makes the rows overlap.

// selvage: arg(batches=4) arg(n=512)
__global__ void batched_bias(float* data, const float* bias, int batches, int n) {
    for (int b = 0; b < batches; ++b) {
        for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
            data[b * n + i] += bias[i];
        }
    }
}

// selvage: block=64 grid=2 arg(batches=4) arg(n=512)
__global__ void batched_bias_pitch(float* data, const float* bias, int batches, int n) {
    for (int b = 0; b < batches; ++b) {
        for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
            data[b * (n - 1) + i] += bias[i];
        }
    }
}
