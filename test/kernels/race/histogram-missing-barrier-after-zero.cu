// expect: parity_histogram race=race divergence=proved finding race/shared lines 8,9
//
// A count may be added to a bin before its owner has set it to zero.

// selvage: block=64 grid=4
__global__ void parity_histogram(unsigned int* bins) {
    __shared__ unsigned int local[64];
    local[threadIdx.x] = 0;
    atomicAdd(&local[(threadIdx.x * 7) % 16], 1u);
    __syncthreads();
    atomicAdd(&bins[threadIdx.x], local[threadIdx.x]);
}
