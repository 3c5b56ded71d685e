// expect: column race=race divergence=proved finding race/shared lines 11,11
// expect: whole race=proved divergence=proved
//
// __launch_bounds__ bounds the number of threads, not the shape: a block of 16 x 16 is allowed.

#define THREADS 256

// selvage: grid=1
__global__ void __launch_bounds__(THREADS) column(int* out) {
    __shared__ int s[THREADS];
    s[threadIdx.x] = threadIdx.y;
    __syncthreads();
    if (threadIdx.y == 0) out[threadIdx.x] = s[threadIdx.x];
}

// selvage: grid=1
__global__ void __launch_bounds__(THREADS) whole(int* out) {
    __shared__ int s[THREADS];
    int t = threadIdx.x + threadIdx.y * blockDim.x;
    s[t] = t;
    __syncthreads();
    out[t] = s[t];
}
