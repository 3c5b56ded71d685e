// expect: affine race=proved divergence=proved
// expect: affine_shifted race=race divergence=proved finding race/global lines 19,19

struct Affine {
    float scale;
    float bias;
    int count;
};

__global__ void affine(Affine p, float* data) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < p.count) data[i] = p.scale * data[i] + p.bias;
}

// selvage: block=128 grid=8 assume(p.count == 1024)
__global__ void affine_shifted(Affine p, float* data) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i > 0 && i < p.count) {
        data[i] = p.scale * data[i - 1] + p.bias;
    }
}
