// expect: all_reduce race=race divergence=proved finding race/shared lines 12,13
//
// The partner's value is read in the interval in which the partner updates it.

// selvage: block=256 grid=2
__global__ void all_reduce(const float* in, float* out) {
    __shared__ float s[256];
    int t = threadIdx.x;
    s[t] = in[blockIdx.x * 256 + t];
    __syncthreads();
    for (int mask = 1; mask < 256; mask <<= 1) {
        float other = s[t ^ mask];
        s[t] += other;
        __syncthreads();
    }
    out[blockIdx.x * 256 + t] = s[t];
}
