// expect: barrier_between race=proved divergence=proved
// expect: no_barrier_between race=race divergence=proved finding race/shared lines 22,23
// expect: barrier_behind_both race=race divergence=proved finding race/shared lines 30,31
// expect: barrier_of_the_block race=race divergence=proved finding race/global lines 39,41
// expect: barrier_in_every_round race=proved divergence=proved
// expect: barrier_in_some_rounds race=race divergence=proved finding race/shared lines 61,63
//
// A race takes two accesses that no barrier of the block separates; threads of other blocks are not separated by it.

__global__ void barrier_between(int* out) {
    __shared__ int s[1024];
    int t = threadIdx.x;
    s[t] = t;
    __syncthreads();
    out[blockIdx.x * blockDim.x + t] = s[blockDim.x - 1 - t];
}

// selvage: block=64 grid=2
__global__ void no_barrier_between(int* out) {
    __shared__ int s[64];
    int t = threadIdx.x;
    s[t] = t;
    out[blockIdx.x * 64 + t] = s[63 - t];
}

// selvage: block=64 grid=2
__global__ void barrier_behind_both(int* out) {
    __shared__ int s[64];
    int t = threadIdx.x;
    s[t] = t;
    int mirrored = s[63 - t];
    __syncthreads();
    out[blockIdx.x * 64 + t] = mirrored;
}

// selvage: block=64 grid=2
__global__ void barrier_of_the_block(int* a, int* out) {
    int i = blockIdx.x * 64 + threadIdx.x;
    a[i] = i;
    __syncthreads();
    out[i] = a[127 - i];
}

__global__ void barrier_in_every_round(int* out, int rounds) {
    __shared__ int s[1024];
    int t = threadIdx.x, seen = 0;
    for (int k = 0; k < rounds; ++k) {
        s[t] = k + t;
        __syncthreads();
        seen += s[blockDim.x - 1 - t];
        __syncthreads();
    }
    out[blockIdx.x * blockDim.x + t] = seen;
}

// selvage: block=64 grid=2 arg(rounds=6)
__global__ void barrier_in_some_rounds(int* out, int rounds) {
    __shared__ int s[64];
    int t = threadIdx.x, seen = 0;
    for (int k = 0; k < rounds; ++k) {
        s[t] = k + t;
        if (k % 3 != 2) __syncthreads();
        seen += s[63 - t];
        __syncthreads();
    }
    out[blockIdx.x * 64 + t] = seen;
}
