// expect: stencil_any race=proved divergence=proved
// expect: stencil_any silent
// expect: stencil_no_barrier_any race=race divergence=proved
// expect: stencil_no_barrier_any finding race/shared error on s lines 30,36
// expect: stencil_in_place_any race=race divergence=proved
// expect: stencil_in_place_any finding race/global error on a lines 42
// expect: boundary_any race=proved divergence=proved
// expect: boundary_any silent
// expect: boundary_short_any race=race divergence=proved
// expect: boundary_short_any finding race/global warning on d lines 61,63 when "n"
// expect: pad_any race=race divergence=proved
// expect: pad_any finding race/global error on a lines 70,72

__global__ void stencil_any(float* out, const float* in, int n) {
    __shared__ float s[130];
    int t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
    s[t + 1] = i < n ? in[i] : 0.0f;
    if (t == 0)
        s[0] = i > 0 && i <= n ? in[i - 1] : 0.0f;
    if (t == blockDim.x - 1)
        s[t + 2] = i + 1 < n ? in[i + 1] : 0.0f;
    __syncthreads();
    if (i < n)
        out[i] = s[t] + s[t + 1] + s[t + 2];
}

__global__ void stencil_no_barrier_any(float* out, const float* in, int n) {
    __shared__ float s[130];
    int t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
    s[t + 1] = i < n ? in[i] : 0.0f;
    if (t == 0)
        s[0] = i > 0 && i <= n ? in[i - 1] : 0.0f;
    if (t == blockDim.x - 1)
        s[t + 2] = i + 1 < n ? in[i + 1] : 0.0f;
    if (i < n)
        out[i] = s[t] + s[t + 1] + s[t + 2];
}

__global__ void stencil_in_place_any(float* a, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i > 0 && i < n - 1)
        a[i] = 0.25f * a[i - 1] + 0.5f * a[i] + 0.25f * a[i + 1];
}

__global__ void boundary_any(float* d, const float* a, float low, float high, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i > 0 && i < n - 1)
        d[i] = a[i + 1] - a[i - 1];
    if (i == n - 1)
        d[n - 1] = high;
    else if (i == 0)
        d[0] = low;
}

// Threads 0 and 1 store the two ends, which are one element if n is 1.
__global__ void boundary_short_any(float* d, const float* a, float low, float high, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i > 0 && i < n - 1)
        d[i] = a[i + 1] - a[i - 1];
    if (i == 0)
        d[0] = low;
    if (i == 1)
        d[n - 1] = high;
}

// The grid covers n, so a thread of another block stores the element that thread 0 reads.
__global__ void pad_any(float* a, const float* b, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        a[i] = 2.0f * b[i];
    if (i == 0)
        a[n] = a[n - 1];
}
