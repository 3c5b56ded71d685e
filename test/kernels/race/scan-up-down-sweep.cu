// expect: exclusive_scan race=proved divergence=proved
//
// Work-efficient scan of two elements a thread; offset and d move in opposite directions.

// selvage: block=64 grid=4
__global__ void exclusive_scan(const float* in, float* out) {
    __shared__ float s[128];
    int t = threadIdx.x;
    int base = blockIdx.x * 128;
    int offset = 1;
    s[2 * t] = in[base + 2 * t];
    s[2 * t + 1] = in[base + 2 * t + 1];

    for (int d = 64; d > 0; d >>= 1) {
        __syncthreads();
        if (t < d) {
            int lo = offset * (2 * t + 1) - 1;
            int hi = offset * (2 * t + 2) - 1;
            s[hi] += s[lo];
        }
        offset *= 2;
    }
    if (t == 0) s[127] = 0.0f;
    for (int d = 1; d < 128; d *= 2) {
        offset >>= 1;
        __syncthreads();
        if (t < d) {
            int lo = offset * (2 * t + 1) - 1;
            int hi = offset * (2 * t + 2) - 1;
            float v = s[lo];
            s[lo] = s[hi];
            s[hi] += v;
        }
    }
    __syncthreads();
    out[base + 2 * t] = s[2 * t];
    out[base + 2 * t + 1] = s[2 * t + 1];
}
