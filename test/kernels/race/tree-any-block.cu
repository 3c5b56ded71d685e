// expect: exclusive_scan race=proved divergence=proved
// expect: reduce_masked race=proved divergence=proved
// expect: reduce_last_twice race=race divergence=proved finding race/shared lines 54,54
//
// Sums along a tree for a block of any size that is a power of two: the strides grow and shrink with the levels. In the
// last kernel, the guard of a level lets every other thread of it through, as if the stride were half as large.

extern __shared__ int s[];

// selvage: grid=32 assume((blockDim.x & (blockDim.x - 1)) == 0)
__global__ void exclusive_scan(const int* in, int* out) {
    int t = threadIdx.x, n = 2 * blockDim.x, base = blockIdx.x * n, offset = 1;
    s[2 * t] = in[base + 2 * t];
    s[2 * t + 1] = in[base + 2 * t + 1];
    for (int d = n >> 1; d > 0; d >>= 1) {
        __syncthreads();
        if (t < d) {
            int low = offset * (2 * t + 1) - 1, high = offset * (2 * t + 2) - 1;
            s[high] += s[low];
        }
        offset *= 2;
    }
    if (t == 0) s[n - 1] = 0;
    for (int d = 1; d < n; d *= 2) {
        offset >>= 1;
        __syncthreads();
        if (t < d) {
            int low = offset * (2 * t + 1) - 1, high = offset * (2 * t + 2) - 1;
            int value = s[low];
            s[low] = s[high];
            s[high] += value;
        }
    }
    __syncthreads();
    out[base + 2 * t] = s[2 * t];
    out[base + 2 * t + 1] = s[2 * t + 1];
}

__global__ void reduce_masked(int* data) {
    unsigned t = threadIdx.x;
    s[t] = data[blockIdx.x * blockDim.x + t];
    for (unsigned stride = 1; stride < blockDim.x; stride *= 2) {
        __syncthreads();
        if ((t & (2 * stride - 1)) == 0) s[t] += s[t + stride];
    }
    if (t == 0) data[blockIdx.x * blockDim.x] = s[0];
}

__global__ void reduce_last_twice(int* data) {
    unsigned t = threadIdx.x;
    s[t] = data[blockIdx.x * blockDim.x + t];
    for (unsigned stride = 1; stride < blockDim.x; stride *= 2) {
        __syncthreads();
        if ((t & (stride - 1)) == 0) s[t] += s[t + stride];
    }
    if (t == 0) data[blockIdx.x * blockDim.x] = s[0];
}
