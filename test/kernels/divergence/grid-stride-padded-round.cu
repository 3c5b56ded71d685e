// expect: block_rounds race=proved divergence=proved
//
// The same work with a uniform iteration and a guard inside it.

// selvage: block=256 grid=1 arg(n=1000)
__global__ void block_rounds(const float* in, float* out, int n) {
    __shared__ float s[256];
    int t = threadIdx.x;
    for (int base = 0; base < n; base += 256) {
        s[t] = base + t < n ? in[base + t] : 0.0f;
        __syncthreads();
        if (base + t < n) out[base + t] = s[t] + s[(t + 128) % 256];
        __syncthreads();
    }
}
