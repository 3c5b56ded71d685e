// expect: publish race=possible divergence=divergent finding barrier/divergent lines 7
//
// The barrier is in a helper function that only one warp calls.

__device__ void store_and_wait(float* s, int t, float v) {
    s[t] = v;
    __syncthreads();
}

// selvage: block=96 grid=2
__global__ void publish(const float* in, float* out) {
    __shared__ float s[96];
    int t = threadIdx.x;
    int i = blockIdx.x * 96 + t;
    if (t / 32 == 1) store_and_wait(s, t, in[i]);
    out[i] = in[i];
}
