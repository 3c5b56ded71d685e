// expect: reorder race=proved divergence=proved
// expect: pairwise_sum race=race divergence=proved finding race/global lines 17,17
//
// Row and column from one index: a permutation. Only half the index: two threads per element.

// selvage: block=128 grid=4 arg(width=16) arg(height=32)
__global__ void reorder(const float* in, float* out, int width, int height) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int row = i / width;
    int col = i % width;
    out[col * height + row] = in[i];
}

// selvage: block=128 grid=4
__global__ void pairwise_sum(const float* in, float* out) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i / 2] += in[i];
}
