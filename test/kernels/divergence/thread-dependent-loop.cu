// expect: triangle race=possible divergence=divergent finding barrier/divergent lines 12
//
// Thread t executes t iterations.

// selvage: block=32 grid=4
__global__ void triangle(float* out) {
    __shared__ float s[32];
    int t = threadIdx.x;
    s[t] = 0.0f;
    for (int k = 0; k < t; ++k) {
        s[t] += k;
        __syncthreads();
    }
    out[blockIdx.x * 32 + t] = s[t];
}
