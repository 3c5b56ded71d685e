// expect: histogram_any race=proved divergence=proved
// expect: histogram_any silent
// expect: histogram_flush_any race=race divergence=proved
// expect: histogram_flush_any finding race/global error on hist lines 34
// expect: histogram_keys_any race=race divergence=proved
// expect: histogram_keys_any finding race/global warning on hist lines 41
// expect: histogram_bytes_any race=race divergence=proved
// expect: histogram_bytes_any finding race/global error on hist lines 48
// expect: histogram_atomic_any race=proved divergence=proved
// expect: histogram_atomic_any silent

__global__ void histogram_any(unsigned* hist, const unsigned char* in, int n) {
    __shared__ unsigned bins[256];
    for (int b = threadIdx.x; b < 256; b += blockDim.x)
        bins[b] = 0;
    __syncthreads();
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        atomicAdd(&bins[in[i]], 1u);
    __syncthreads();
    for (int b = threadIdx.x; b < 256; b += blockDim.x)
        atomicAdd(&hist[b], bins[b]);
}

// The blocks add up their bins without atomics.
__global__ void histogram_flush_any(unsigned* hist, const unsigned char* in, int n) {
    __shared__ unsigned bins[256];
    for (int b = threadIdx.x; b < 256; b += blockDim.x)
        bins[b] = 0;
    __syncthreads();
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        atomicAdd(&bins[in[i]], 1u);
    __syncthreads();
    for (int b = threadIdx.x; b < 256; b += blockDim.x)
        hist[b] += bins[b];
}

// Correct only if no two keys are the same, which keys of 32 bits may be.
__global__ void histogram_keys_any(unsigned* hist, const unsigned* key, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        hist[key[i]]++;
}

// More threads than values of a byte: some of them access the same bin, for any bytes.
__global__ void histogram_bytes_any(unsigned* hist, const unsigned char* in, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        hist[in[i]]++;
}

__global__ void histogram_atomic_any(unsigned* hist, const unsigned* key, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        atomicAdd(&hist[key[i]], 1u);
}
