// expect: reduce_interleaved race=proved divergence=proved
// expect: reduce_strided race=proved divergence=proved
//
// The two textbook forms with a growing stride: by modulo, and by a strided index.

// selvage: block=128 grid=8
__global__ void reduce_interleaved(const int* in, int* out) {
    __shared__ int s[128];
    int t = threadIdx.x;
    s[t] = in[blockIdx.x * blockDim.x + t];
    __syncthreads();
    for (int stride = 1; stride < blockDim.x; stride *= 2) {
        if (t % (2 * stride) == 0) s[t] += s[t + stride];
        __syncthreads();
    }
    if (t == 0) out[blockIdx.x] = s[0];
}

// selvage: block=128 grid=8
__global__ void reduce_strided(const int* in, int* out) {
    __shared__ int s[128];
    int t = threadIdx.x;
    s[t] = in[blockIdx.x * blockDim.x + t];
    __syncthreads();
    for (int stride = 1; stride < blockDim.x; stride *= 2) {
        int index = 2 * stride * t;
        if (index < blockDim.x) s[index] += s[index + stride];
        __syncthreads();
    }
    if (t == 0) out[blockIdx.x] = s[0];
}
