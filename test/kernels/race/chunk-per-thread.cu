// expect: normalise_chunks race=proved divergence=proved
// expect: smooth_chunks race=race divergence=proved finding race/global lines 17,17
//
// Eight consecutive elements a thread; the second kernel reads one element of the next chunk.

__global__ void normalise_chunks(float* data) {
    int start = (blockIdx.x * blockDim.x + threadIdx.x) * 8;
    float sum = 0.0f;
    for (int k = start; k < start + 8; ++k) sum += data[k];
    for (int k = start; k < start + 8; ++k) data[k] /= sum;
}

// selvage: block=64 grid=4
__global__ void smooth_chunks(float* data) {
    int start = (blockIdx.x * blockDim.x + threadIdx.x) * 8;
    for (int k = start; k < start + 8; ++k) {
        data[k] = 0.5f * (data[k] + data[k + 1]);
    }
}
