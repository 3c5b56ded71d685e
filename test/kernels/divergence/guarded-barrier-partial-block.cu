// expect: guarded race=possible divergence=divergent finding barrier/divergent lines 13
//
// The last block has 24 threads outside of the guard.

// selvage: block=256 grid=4 arg(n=1000)
__global__ void guarded(const float* in, float* out, int n) {
    __shared__ float s[256];
    int t = threadIdx.x;
    int i = blockIdx.x * blockDim.x + t;
    s[t] = 0.0f;
    if (i < n) {
        s[t] += in[i];
        __syncthreads();
    }
    out[i] = s[t];
}
