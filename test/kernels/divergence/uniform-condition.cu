// expect: maybe_reverse race=proved divergence=proved
//
// Barriers under conditions that are the same for all threads of a block.

// selvage: block=64 grid=8
__global__ void maybe_reverse(int* data, int mode) {
    __shared__ int s[64];
    int t = threadIdx.x;
    int base = blockIdx.x * blockDim.x;
    if (mode > 1 && blockIdx.x % 2 == 0) {
        s[t] = data[base + t];
        __syncthreads();
        data[base + t] = s[63 - t];
    }
    if (blockDim.x > 32) {
        __syncthreads();
    }
}
