// expect: transpose_in_place race=proved divergence=proved
// expect: transpose_in_place_all race=race divergence=proved finding race/global lines 22,24 finding race/global lines 23,23 finding race/global lines 23,24
//
// Each pair of elements is swapped once when only the threads above the diagonal work, twice otherwise.

// selvage: block=16,16 grid=2,2 arg(n=32)
__global__ void transpose_in_place(float* m, int n) {
    int col = blockIdx.x * blockDim.x + threadIdx.x;
    int row = blockIdx.y * blockDim.y + threadIdx.y;
    if (col > row) {
        float v = m[row * n + col];
        m[row * n + col] = m[col * n + row];
        m[col * n + row] = v;
    }
}

// selvage: block=16,16 grid=2,2 arg(n=32)
__global__ void transpose_in_place_all(float* m, int n) {
    int col = blockIdx.x * blockDim.x + threadIdx.x;
    int row = blockIdx.y * blockDim.y + threadIdx.y;
    if (col != row) {
        float v = m[row * n + col];
        m[row * n + col] = m[col * n + row];
        m[col * n + row] = v;
    }
}
