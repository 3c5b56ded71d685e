// expect: prefetch race=proved divergence=proved
// expect: prefetch_into_same race=race divergence=proved finding race/shared lines 29,30

// The next tile goes into the buffer that is not being read, with one barrier per iteration.
// selvage: block=128
__global__ void prefetch(const float* in, float* out, int n) {
    __shared__ float s[2][128];
    float sum = 0;
    s[0][threadIdx.x] = in[threadIdx.x];
    __syncthreads();
    for (int k = 0; k < n; k++) {
        s[(k + 1) & 1][threadIdx.x] = in[(k + 1) * 128 + threadIdx.x];
        sum += s[k & 1][(threadIdx.x + 1) % 128];
        __syncthreads();
    }
    out[blockIdx.x * 128 + threadIdx.x] = sum;
}

// As above, with the buffers mixed up.
// selvage: block=128
__global__ void prefetch_into_same(const float* in, float* out, int n) {
    __shared__ float s[2][128];
    float sum = 0;
    s[0][threadIdx.x] = in[threadIdx.x];
    __syncthreads();
    for (int k = 0; k < n; k++) {
        int piece = (k + 1) * 128;

        s[((k + 1) & 1) ^ 1][threadIdx.x] = in[piece + threadIdx.x];
        sum += s[k & 1][(threadIdx.x + 1) % 128];
        __syncthreads();
    }
    out[blockIdx.x * 128 + threadIdx.x] = sum;
}
