// expect: split race=proved divergence=proved
// expect: split_without_barrier race=race divergence=proved finding race/shared lines 22,23
//
// Stored as pairs of ints, read back one by one.

// selvage: block=128 grid=4
__global__ void split(const int2* in, int* first, int* second) {
    __shared__ int cells[256];
    int t = threadIdx.x;
    int i = blockIdx.x * 128 + t;
    reinterpret_cast<int2*>(cells)[t] = in[i];
    __syncthreads();
    first[i] = cells[t];
    second[i] = cells[t + 128];
}

// selvage: block=128 grid=4
__global__ void split_without_barrier(const int2* in, int* out) {
    __shared__ int cells[256];
    int t = threadIdx.x;
    int i = blockIdx.x * 128 + t;
    reinterpret_cast<int2*>(cells)[t] = in[i];
    out[i] = cells[t];
}
