// expect: rest_return_any race=proved divergence=proved
// expect: rest_return_any finding barrier/early-exit warning lines 36
// expect: rest_guard_any race=possible divergence=divergent
// expect: rest_guard_any finding barrier/divergent error lines 46
// expect: rest_loop_any race=possible divergence=divergent
// expect: rest_loop_any finding barrier/divergent error lines 58
// expect: rest_rounds_any race=proved divergence=proved
// expect: rest_rounds_any silent
// expect: rest_clamp_any race=race divergence=proved
// expect: rest_clamp_any finding race/global error on a lines 78
// expect: rest_clamp_read_any race=proved divergence=proved
// expect: rest_clamp_read_any silent
// expect: rest_none_any race=proved divergence=proved
// expect: rest_none_any silent
// expect: ring_any race=race divergence=proved
// expect: ring_any finding race/global error on ring lines 103
// expect: ring_last_any race=proved divergence=proved
// expect: ring_last_any silent
// expect: rounds_any race=proved divergence=proved
// expect: rounds_any silent
// expect: rounds_any assumes no-alias
// expect: rounds_thread_any race=possible divergence=divergent
// expect: rounds_thread_any finding barrier/divergent error lines 123
// expect: rest_drawn_any race=proved divergence=proved
// expect: rest_drawn_any silent
//
// A kernel that handles a remainder has a size that is not a multiple of the block.

// The threads that have returned are not waited for.
__global__ void rest_return_any(float* out, const float* in, int n) {
    __shared__ float s[256];
    int t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
    if (i >= n)
        return;
    s[t] = in[i];
    __syncthreads();
    out[i] = t > 0 ? s[t - 1] : 0.0f;
}

// The threads without an element skip the first barrier and wait at the second one.
__global__ void rest_guard_any(float* out, float* sums, const float* in, int n) {
    __shared__ float s[256];
    int t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
    if (i < n) {
        s[t] = in[i];
        __syncthreads();
        out[i] = t > 0 ? s[t - 1] : 0.0f;
    }
    __syncthreads();
    if (t == 0)
        sums[blockIdx.x] = s[0];
}

// In the last iteration some threads are done, and the others wait for them.
__global__ void rest_loop_any(float* a, int n) {
    for (int i = threadIdx.x; i < n; i += blockDim.x) {
        a[blockIdx.x * n + i] *= 2.0f;
        __syncthreads();
    }
}

__global__ void rest_rounds_any(float* out, const float* in, int n) {
    __shared__ float s[256];
    int t = threadIdx.x;
    for (int first = 0; first < n; first += blockDim.x) {
        int i = first + t;
        s[t] = i < n ? in[blockIdx.x * n + i] : 0.0f;
        __syncthreads();
        if (i < n)
            out[blockIdx.x * n + i] = t > 0 ? s[t - 1] : 0.0f;
        __syncthreads();
    }
}

// All threads past the end take the last element.
__global__ void rest_clamp_any(float* a, int n) {
    int i = min(blockIdx.x * blockDim.x + threadIdx.x, n - 1);
    a[i] *= 2.0f;
}

__global__ void rest_clamp_read_any(float* out, const float* in, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        out[i] = in[min(i + 1, n - 1)] - in[i];
}

// The kernel handles no remainder, so n is a multiple of the block, and all threads have the same trip count.
__global__ void rest_none_any(float* out, const float* in, int n) {
    __shared__ float s[256];
    int t = threadIdx.x;
    for (int k = 0; k < n / (int)blockDim.x; k++) {
        s[t] = in[blockIdx.x * n + k * blockDim.x + t];
        __syncthreads();
        out[blockIdx.x * n + k * blockDim.x + t] = t > 0 ? s[t - 1] : 0.0f;
        __syncthreads();
    }
}

// More elements than slots: any large n is above the constant.
__global__ void ring_any(int* ring, const int* in, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        ring[i % 4096] = in[i];
}

__global__ void ring_last_any(int* ring, const int* in, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n && i >= n - 4096)
        ring[i % 4096] = in[i];
}

// All threads of a block read the same trip count.
__global__ void rounds_any(float* a, const int* rounds) {
    for (int k = 0; k < rounds[blockIdx.x]; k++) {
        a[blockIdx.x * blockDim.x + threadIdx.x] *= 2.0f;
        __syncthreads();
    }
}

__global__ void rounds_thread_any(float* a, const int* rounds) {
    for (int k = 0; k < rounds[threadIdx.x]; k++) {
        a[blockIdx.x * blockDim.x + threadIdx.x] *= 2.0f;
        __syncthreads();
    }
}

// No run shows whether some threads return earlier than others: no finding.
__global__ void rest_drawn_any(int* work, float* out) {
    __shared__ int base;
    for (;;) {
        if (threadIdx.x == 0)
            base = atomicAdd(&work[1], blockDim.x);
        __syncthreads();
        int i = base + threadIdx.x;
        if (i >= work[0])
            return;
        out[i] = i;
        __syncthreads();
    }
}
