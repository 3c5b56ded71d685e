// expect: interior race=proved divergence=proved
// expect: interior_in_place race=race divergence=proved finding race/shared lines 24,24
//
// tx - 1u wraps for the first thread, and one comparison then excludes both edges.

// selvage: block=64 grid=4
__global__ void interior(const int* in, int* out) {
    __shared__ int s[64];
    unsigned t = threadIdx.x;
    unsigned i = blockIdx.x * blockDim.x + t;
    s[t] = in[i];
    __syncthreads();
    if (t - 1u < 62u) out[i] = s[t - 1] + s[t + 1];
}

// selvage: block=64 grid=4
__global__ void interior_in_place(const int* in, int* out) {
    __shared__ int s[64];
    unsigned t = threadIdx.x;
    unsigned i = blockIdx.x * blockDim.x + t;
    s[t] = in[i];
    __syncthreads();
    if (t - 1u < 62u) {
        s[t - 1] = s[t];
    }
    __syncthreads();
    out[i] = s[t];
}
