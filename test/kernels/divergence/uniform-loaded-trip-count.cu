// expect: iterate race=proved divergence=proved
//
// The trip count is read from memory, by all threads of a block from the same element.

// selvage: block=64 grid=4
__global__ void iterate(const int* rounds, const float* in, float* out) {
    __shared__ float s[64];
    int t = threadIdx.x;
    s[t] = in[blockIdx.x * 64 + t];
    __syncthreads();
    int count = rounds[blockIdx.x];
    for (int k = 0; k < count; ++k) {
        float v = s[(t + 1) % 64];
        __syncthreads();
        s[t] = 0.5f * (s[t] + v);
        __syncthreads();
    }
    out[blockIdx.x * 64 + t] = s[t];
}
