// expect: mark race=race divergence=proved finding race/shared lines 8,8
//
// Every thread writes the same value: a race by the memory model, reported as a warning.

// selvage: block=64 grid=2
__global__ void mark(int* out) {
    __shared__ int flag;
    flag = 1;
    __syncthreads();
    out[blockIdx.x * blockDim.x + threadIdx.x] = flag;
}
