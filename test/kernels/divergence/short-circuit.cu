// expect: any_large race=possible divergence=divergent finding barrier/divergent lines 10
//
// The right side of || is evaluated by half of the threads, and it holds a barrier.

// selvage: block=64 grid=2
__global__ void any_large(const int* in, int* out) {
    int t = threadIdx.x;
    int i = blockIdx.x * blockDim.x + t;
    int v = in[i];
    bool keep = t < 32 || __syncthreads_or(v > 100);
    out[i] = keep ? v : 0;
}
