// expect: inclusive_scan race=race divergence=proved finding race/shared lines 13,13
//
// The element to the left is read in the interval in which its owner updates it.

// selvage: block=256 grid=4
__global__ void inclusive_scan(const int* in, int* out) {
    __shared__ int s[256];
    const int t = threadIdx.x;
    const int i = blockIdx.x * blockDim.x + t;
    s[t] = in[i];
    __syncthreads();
    for (int offset = 1; offset < blockDim.x; offset <<= 1) {
        if (t >= offset) s[t] += s[t - offset];
        __syncthreads();
    }
    out[i] = s[t];
}
