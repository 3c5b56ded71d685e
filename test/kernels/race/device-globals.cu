// expect: build_table race=proved divergence=proved
// expect: count_blocks race=proved divergence=proved
// expect: remember_block race=race divergence=proved finding race/global lines 23,23

__device__ float table[256];
__device__ unsigned int blocks_done;
__device__ int last_block;
__constant__ float coefficients[4];

// selvage: block=256 grid=1
__global__ void build_table() {
    int t = threadIdx.x;
    table[t] = coefficients[t & 3] * t;
}

__global__ void count_blocks() {
    if (threadIdx.x == 0) atomicAdd(&blocks_done, 1u);
}

// selvage: block=64 grid=16
__global__ void remember_block() {
    if (threadIdx.x == 0) {
        last_block = blockIdx.x;
    }
}
