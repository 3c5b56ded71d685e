// expect: branches race=possible divergence=divergent finding barrier/divergent lines 12 finding barrier/divergent lines 16
//
// Every thread reaches a barrier, but not the same one.

// selvage: block=128 grid=2
__global__ void branches(const int* in, int* out) {
    __shared__ int s[128];
    int t = threadIdx.x;
    int i = blockIdx.x * blockDim.x + t;
    if (t < 64) {
        s[t] = in[i];
        __syncthreads();
        out[i] = s[t];
    } else {
        s[t] = -in[i];
        __syncthreads();
        out[i] = s[t] + 1;
    }
}
