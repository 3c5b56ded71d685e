// expect: first_warp race=proved divergence=proved
// expect: part_of_warp race=possible divergence=possible
// expect: up_to_n race=possible divergence=possible

// Only the first warp continues, for any number of threads in the block.
__global__ void first_warp(int* out) {
    __shared__ int s[1056];
    int t = threadIdx.x;
    s[t] = t;
    __syncthreads();
    if (t < 32) {
        int v = s[t] + s[t + 16];
        __syncwarp();
        s[t] = v;
        __syncwarp();
        out[blockIdx.x * blockDim.x + t] = s[t ^ 1];
    }
}

// Lanes that the barrier of the warp names stay away.
__global__ void part_of_warp(int* out) {
    __shared__ int s[1056];
    int t = threadIdx.x;
    s[t] = t;
    __syncthreads();
    if (t < 40) {
        int v = s[t] + s[t + 16];
        __syncwarp();
        out[blockIdx.x * blockDim.x + t] = v;
    }
}

__global__ void up_to_n(int* out, int n) {
    __shared__ int s[1056];
    int t = threadIdx.x;
    s[t] = t;
    __syncthreads();
    if (t < n) {
        int v = s[t] + s[t + 16];
        __syncwarp();
        out[blockIdx.x * blockDim.x + t] = v;
    }
}
