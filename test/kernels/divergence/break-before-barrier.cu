// expect: drop_out race=possible divergence=divergent finding barrier/divergent lines 13
//
// Threads leave the loop one after the other; those that stay wait for them.

// selvage: block=64 grid=2
__global__ void drop_out(int* out) {
    __shared__ int s[64];
    int t = threadIdx.x;
    s[t] = t;
    for (int k = 0; k < 8; ++k) {
        if (k == t) break;
        s[t] += k;
        __syncthreads();
    }
    out[blockIdx.x * 64 + t] = s[t];
}
