// expect: found race=proved divergence=proved finding barrier/early-exit lines 16
// expect: left_loop race=possible divergence=divergent finding barrier/divergent lines 26
//
// A return from a loop with a barrier is an early exit, regardless of the code before it. A break to code that other
// threads execute later is not.

// selvage: block=64 grid=1
__global__ void found(int* out) {
    __shared__ int s[64];
    for (int k = 0; k < 4; k++) {
        s[threadIdx.x] = k;
        if (threadIdx.x == k) {
            out[threadIdx.x] = s[threadIdx.x];
            return;
        }
        __syncthreads();
    }
    out[threadIdx.x] = -1;
}

// selvage: block=64 grid=1
__global__ void left_loop(int* out) {
    for (int k = 0; k < 4; k++) {
        if (threadIdx.x == k) break;
        out[threadIdx.x + 64 * k] = k;
        __syncthreads();
    }
    out[threadIdx.x] = -1;
}
