// expect: column_sums race=possible divergence=divergent finding barrier/divergent lines 12
// expect: column_sums_ordered race=proved divergence=proved
//
// A two-dimensional block: the barrier is in the part of its first row, then outside of it.

// selvage: block=16,8 grid=4
__global__ void column_sums(const float* in, float* out, float* copy) {
    int tx = threadIdx.x, ty = threadIdx.y;
    int i = (blockIdx.x * 8 + ty) * 16 + tx;
    if (ty == 0) {
        out[blockIdx.x * 16 + tx] = in[i];
        __syncthreads();
    }
    copy[i] = in[i];
}

// selvage: block=16,8 grid=4
__global__ void column_sums_ordered(const float* in, float* out) {
    __shared__ float tile[8][16];
    int tx = threadIdx.x, ty = threadIdx.y;
    tile[ty][tx] = in[(blockIdx.x * 8 + ty) * 16 + tx];
    __syncthreads();
    if (ty == 0) {
        float sum = 0.0f;
        for (int k = 0; k < 8; ++k) sum += tile[k][tx];
        out[blockIdx.x * 16 + tx] = sum;
    }
}
