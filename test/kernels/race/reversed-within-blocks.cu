// expect: reversed race=proved divergence=proved
// expect: reversed_and_spread race=race divergence=proved finding race/global lines 14,14

// Each block turns its part around; the unsigned index goes below zero in no thread.
__global__ void reversed(const float* in, float* out) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned j = blockIdx.x * blockDim.x + blockDim.x - 1 - threadIdx.x;
    out[j] = in[i];
}

// With twice the stride, the elements overlap the part of the previous block.
__global__ void reversed_and_spread(const float* in, float* out) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    out[(blockIdx.x + 1) * blockDim.x - 1 - 2 * threadIdx.x] = in[i];
}
