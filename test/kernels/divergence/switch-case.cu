// expect: by_residue race=possible divergence=divergent finding barrier/divergent lines 12

// selvage: block=96 grid=2
__global__ void by_residue(int* data) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    switch (threadIdx.x % 3) {
        case 0:
            data[i] += 1;
            break;
        case 1:
            data[i] += 2;
            __syncthreads();
            break;
        default:
            break;
    }
    data[i] *= 2;
}
