// expect: trailing_if race=proved divergence=proved
// expect: nested race=proved divergence=proved
// expect: continues_before_barrier race=possible divergence=divergent finding barrier/divergent lines 47
// expect: leaves_at_the_end race=possible divergence=divergent finding barrier/divergent lines 55
//
// If the last statement of a loop is an `if` and no register is carried between iterations, both edges of its branch
// are back edges. All threads that take one of them are in the next iteration, so the branch decides about no barrier.

// selvage: block=256 grid=4
__global__ void trailing_if(int* out, int n) {
    __shared__ int s[256];
    __shared__ int count;
    int t = threadIdx.x;
    if (t == 0) count = 0;
    while (true) {
        __syncthreads();
        if (t == 0) count = count + 1;
        __syncthreads();
        if (count >= n) break;
        s[t] = count;
        if (t < 16) out[blockIdx.x * 256 + t] = s[t];
    }
}

// selvage: block=64 grid=4
__global__ void nested(int* out, int rows) {
    __shared__ int s[64];
    int t = threadIdx.x;
    for (int row = 0; row < rows; row++) {
        s[t] = row;
        for (int k = 0; k < 2; k++) {
            __syncthreads();
            if (t < 16) out[blockIdx.x * 64 + t] += s[t + 16];
        }
        __syncthreads();
        if (t < 8) out[blockIdx.x * 64 + t] -= 1;
    }
}

// selvage: block=64 grid=1 arg(n=3)
__global__ void continues_before_barrier(volatile int* counts, int n) {
    int t = threadIdx.x;
    while (true) {
        counts[t] = counts[t] + 1;
        if (counts[t] >= n) break;
        if (t < 16) continue;
        __syncthreads();
    }
}

// selvage: block=64 grid=1 arg(n=3)
__global__ void leaves_at_the_end(volatile int* counts, int n) {
    int t = threadIdx.x;
    while (true) {
        __syncthreads();
        counts[t] = counts[t] + 1;
        if (counts[t] >= n) break;
        if (t < 16 && counts[t] == 2) break;
    }
    counts[t] = -1;
}
