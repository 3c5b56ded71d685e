// expect: shift_some repaired +1 -0
// expect: scan_some repaired +2 -0
// expect: hoisted repaired +1 -1
// expect: left_early repaired +1 -0
//
// Load and store are under one condition, or the barrier between them is.

// selvage: block=128 grid=1
__global__ void shift_some(float* x) {
    __shared__ float s[128];
    int t = threadIdx.x;
    s[t] = x[t];
    __syncthreads();
    // shift down
    if (t < 64 && t > 2)
        s[t] += s[t + 1] * 2; // in place
    __syncthreads();
    x[t] = s[t];
}

// selvage: block=128 grid=1
__global__ void scan_some(float* x, const int* on) {
    __shared__ float s[128];
    int t = threadIdx.x;
    s[t] = x[t];
    __syncthreads();
    for (int d = 1; d < 64; d *= 2)
        if (t >= d)
            if (on[t]) {
                s[t] += s[t - d];
            }
    __syncthreads();
    x[t] = s[t];
}

// selvage: block=128 grid=1
__global__ void hoisted(int* a) {
    int t = threadIdx.x;
    if (t < 100) {
        // the current element
        int mine = a[t + 1];
        __syncthreads();
        a[t] = mine;
    }
    a[t + 128] = 0;
}

// selvage: block=128 grid=2 arg(n=200)
__global__ void left_early(const float* in, float* out, int n) {
    __shared__ float s[128];
    int i = blockIdx.x * 128 + threadIdx.x;
    if (i >= n) return;
    s[threadIdx.x] = in[i];
    out[i] = threadIdx.x > 0 ? s[threadIdx.x] - s[threadIdx.x - 1] : 0;
}
