// expect: mark race=proved divergence=proved finding race/shared lines 8,8
//
// Every thread writes one literal, and none reads it before the barrier: proved under that assumption, with a notice.

// selvage: block=64 grid=2
__global__ void mark(int* out) {
    __shared__ int flag;
    flag = 1;
    __syncthreads();
    out[blockIdx.x * blockDim.x + threadIdx.x] = flag;
}
