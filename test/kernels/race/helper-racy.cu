// expect: rotate_rows race=race divergence=proved finding race/shared lines 4,4

__device__ void rotate(int* row, int t, int length) {
    row[t] = row[(t + 1) % length];
}

// selvage: block=64 grid=4
__global__ void rotate_rows(const int* in, int* out) {
    __shared__ int row[64];
    int i = blockIdx.x * 64 + threadIdx.x;
    row[threadIdx.x] = in[i];
    __syncthreads();
    rotate(row, threadIdx.x, 64);
    __syncthreads();
    out[i] = row[threadIdx.x];
}
