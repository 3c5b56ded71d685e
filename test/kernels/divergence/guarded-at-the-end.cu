// expect: guarded race=possible divergence=divergent finding barrier/divergent lines 19
// expect: returned race=proved divergence=proved finding barrier/early-exit lines 31
// expect: guarded_loop race=possible divergence=divergent finding barrier/divergent lines 42
//
// Both end the kernel for some of the threads, and compile to the same code: but a return ends the thread, and a thread
// that skips the barrier continues, to any code that the next change puts after it.

__device__ float smoothed(const float* s, int t) {
    return 0.5f * (s[t] + s[t + 1]);
}

// selvage: block=64 grid=4 arg(n=200)
__global__ void guarded(const float* in, float* out, int n) {
    __shared__ float s[65];
    int i = blockIdx.x * 64 + threadIdx.x;
    if (i < n) {
        s[threadIdx.x + 1] = in[i];
        if (threadIdx.x == 0) s[0] = in[i];
        __syncthreads();
        out[i] = smoothed(s, threadIdx.x);
    }
}

// selvage: block=64 grid=4 arg(n=200)
__global__ void returned(const float* in, float* out, int n) {
    __shared__ float s[65];
    int i = blockIdx.x * 64 + threadIdx.x;
    if (i >= n) return;
    s[threadIdx.x + 1] = in[i];
    if (threadIdx.x == 0) s[0] = in[i];
    __syncthreads();
    out[i] = smoothed(s, threadIdx.x);
}

// selvage: block=64 grid=1
__global__ void guarded_loop(const float* in, float* out) {
    __shared__ float s[256];
    for (int i = threadIdx.x; i < 200; i += 64) {
        s[i] = in[i];
        // Only some threads execute the last iteration.
        out[i] = s[i];
        __syncthreads();
    }
}
