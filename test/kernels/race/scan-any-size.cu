// expect: inclusive race=proved divergence=proved
// expect: inclusive_two_buffers race=proved divergence=proved
// expect: exclusive_tree race=proved divergence=proved
// expect: scan_then_add race=proved divergence=proved
//
// Prefix sums of a block of any size: with two barriers a step, with one and two buffers, and up and down a tree.

__global__ void inclusive(const int* in, int* out) {
    extern __shared__ int s[];
    int t = threadIdx.x;
    s[t] = in[blockIdx.x * blockDim.x + t];
    __syncthreads();
    for (int distance = 1; distance < blockDim.x; distance *= 2) {
        int before = t >= distance ? s[t - distance] : 0;
        __syncthreads();
        s[t] += before;
        __syncthreads();
    }
    out[blockIdx.x * blockDim.x + t] = s[t];
}

__global__ void inclusive_two_buffers(const int* in, int* out) {
    __shared__ int s[2][1024];
    int t = threadIdx.x, from = 0;
    s[0][t] = in[blockIdx.x * blockDim.x + t];
    __syncthreads();
    for (int distance = 1; distance < blockDim.x; distance *= 2) {
        s[1 - from][t] = s[from][t] + (t >= distance ? s[from][t - distance] : 0);
        from = 1 - from;
        __syncthreads();
    }
    out[blockIdx.x * blockDim.x + t] = s[from][t];
}

// Two elements a thread. Takes a power of two: other sizes go down further than up.
// selvage: block=128
__global__ void exclusive_tree(const int* in, int* out) {
    extern __shared__ int s[];
    int t = threadIdx.x, n = 2 * blockDim.x;
    s[2 * t] = in[blockIdx.x * n + 2 * t];
    s[2 * t + 1] = in[blockIdx.x * n + 2 * t + 1];
    int distance = 1;
    for (int threads = blockDim.x; threads > 0; threads /= 2) {
        __syncthreads();
        if (t < threads)
            s[distance * (2 * t + 2) - 1] += s[distance * (2 * t + 1) - 1];
        distance *= 2;
    }
    if (t == 0) s[n - 1] = 0;
    for (int threads = 1; threads < n; threads *= 2) {
        distance /= 2;
        __syncthreads();
        if (t < threads) {
            int left = s[distance * (2 * t + 1) - 1];
            s[distance * (2 * t + 1) - 1] = s[distance * (2 * t + 2) - 1];
            s[distance * (2 * t + 2) - 1] += left;
        }
    }
    __syncthreads();
    out[blockIdx.x * n + 2 * t] = s[2 * t];
    out[blockIdx.x * n + 2 * t + 1] = s[2 * t + 1];
}

// The sum of the preceding blocks is added to the elements of a block.
__global__ void scan_then_add(int* data, const int* sums) {
    __shared__ int before;
    if (threadIdx.x == 0) {
        before = 0;
        for (int b = 0; b < blockIdx.x; ++b)
            before += sums[b];
    }
    __syncthreads();
    data[blockIdx.x * blockDim.x + threadIdx.x] += before;
}
