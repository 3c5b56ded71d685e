// expect: count_positive race=proved divergence=proved
// expect: spread_maximum race=proved divergence=proved
//
// The value of __syncthreads_or and __syncthreads_count is the same in all threads of the block.

// selvage: block=128 grid=8
__global__ void count_positive(const int* in, int* out) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int count = __syncthreads_count(in[i] > 0);
    if (threadIdx.x == 0) out[blockIdx.x] = count;
}

// selvage: block=128 grid=8
__global__ void spread_maximum(const int* in, int* out) {
    __shared__ int s[128];
    int t = threadIdx.x;
    int i = blockIdx.x * blockDim.x + t;
    int again;
    s[t] = in[i];
    __syncthreads();
    do {
        int left = t > 0 ? s[t - 1] : s[t];
        __syncthreads();
        bool smaller = s[t] < left;
        if (smaller) s[t] = left;
        again = __syncthreads_or(smaller);
    } while (again);
    out[i] = s[t];
}
