// expect: inclusive_scan race=proved divergence=proved

// selvage: block=256 grid=4
__global__ void inclusive_scan(const int* in, int* out) {
    __shared__ int s[256];
    const int t = threadIdx.x;
    const int i = blockIdx.x * blockDim.x + t;
    s[t] = in[i];
    __syncthreads();
    for (int offset = 1; offset < blockDim.x; offset <<= 1) {
        int v = 0;
        if (t >= offset) v = s[t - offset];
        __syncthreads();
        s[t] += v;
        __syncthreads();
    }
    out[i] = s[t];
}
