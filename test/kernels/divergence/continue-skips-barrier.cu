// expect: two_of_three race=possible divergence=divergent finding barrier/divergent lines 9

// selvage: block=64 grid=2
__global__ void two_of_three(int* data) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    for (int k = 0; k < 4; ++k) {
        if ((threadIdx.x + k) % 3 == 0) continue;
        data[i] += k;
        __syncthreads();
    }
    data[i] *= 2;
}
