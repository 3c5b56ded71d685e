// expect: guarded race=proved divergence=proved
//
// The guard holds for every thread of this launch, so the barrier under it does too.

// selvage: block=256 grid=4 arg(n=1024)
__global__ void guarded(const float* in, float* out, int n) {
    __shared__ float s[256];
    int t = threadIdx.x;
    int i = blockIdx.x * blockDim.x + t;
    if (i < n) {
        s[t] = in[i];
        __syncthreads();
        out[i] = s[255 - t];
    }
}
