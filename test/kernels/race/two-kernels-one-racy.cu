// expect: gather_pairs race=proved divergence=proved
// expect: gather_pairs_in_place race=race divergence=proved finding race/global lines 14,14

// selvage: arg(n=512)
__global__ void gather_pairs(const int* in, int* out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (2 * i + 1 < 2 * n) out[i] = in[2 * i] + in[2 * i + 1];
}

// selvage: block=128 grid=4 arg(n=512)
__global__ void gather_pairs_in_place(int* data, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (2 * i + 1 < 2 * n) {
        data[i] = data[2 * i] + data[2 * i + 1];
    }
}
