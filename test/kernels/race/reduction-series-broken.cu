// expect: interleaved_overlapping race=race divergence=proved finding race/shared lines 22,22
// expect: interleaved_no_barrier race=race divergence=proved finding race/shared lines 37,37 finding race/shared lines 37,39
// expect: halving_one_too_far race=race divergence=proved finding race/shared lines 50,50
// expect: loaded_without_barrier race=race divergence=proved finding race/shared lines 61,64
// expect: last_warp_without_sync race=race divergence=proved finding race/shared lines 77,78 finding race/shared lines 78,78
// expect: unrolled_skips_barrier<256> race=race divergence=proved finding race/shared lines 91,94
// expect: barrier_in_guard race=possible divergence=divergent finding barrier/divergent lines 112
// expect: warps_without_barrier race=race divergence=proved finding race/shared lines 129,133
// expect: warps_reused race=race divergence=proved finding race/shared lines 147,151
//
// The eight sums, each with a slip.

// selvage: block=128 grid=2
__global__ void interleaved_overlapping(const int* in, int* out) {
    __shared__ int s[128];
    int t = threadIdx.x;
    s[t] = in[blockIdx.x * blockDim.x + t];
    __syncthreads();
    for (int stride = 1; stride < blockDim.x; stride *= 2) {
        // Of every stride, not of every second.
        if (t % stride == 0 && t + stride < blockDim.x)
            s[t] += s[t + stride];
        __syncthreads();
    }
    if (t == 0) out[blockIdx.x] = s[0];
}

// selvage: block=128 grid=2
__global__ void interleaved_no_barrier(const int* in, int* out) {
    __shared__ int s[128];
    int t = threadIdx.x;
    s[t] = in[blockIdx.x * blockDim.x + t];
    __syncthreads();
    for (int stride = 1; stride < blockDim.x; stride *= 2) {
        int at = 2 * stride * t;
        if (at < blockDim.x)
            s[at] += s[at + stride];
    }
    if (t == 127) out[blockIdx.x] = s[0];
}

// selvage: block=128 grid=2
__global__ void halving_one_too_far(const int* in, int* out) {
    __shared__ int s[129];
    int t = threadIdx.x;
    s[t] = in[blockIdx.x * blockDim.x + t];
    __syncthreads();
    for (int half = blockDim.x / 2; half > 0; half >>= 1) {
        if (t <= half)
            s[t] += s[t + half];
        __syncthreads();
    }
    if (t == 0) out[blockIdx.x] = s[0];
}

// selvage: block=128 grid=2
__global__ void loaded_without_barrier(const int* in, int* out) {
    __shared__ int s[128];
    int t = threadIdx.x;
    int i = blockIdx.x * blockDim.x * 2 + t;
    s[t] = in[i] + in[i + blockDim.x];
    for (int half = blockDim.x / 2; half > 0; half >>= 1) {
        if (t < half)
            s[t] += s[t + half];
        __syncthreads();
    }
    if (t == 0) out[blockIdx.x] = s[0];
}

// selvage: block=64 grid=2
__global__ void last_warp_without_sync(const int* in, int* out) {
    __shared__ int s[64];
    int t = threadIdx.x;
    s[t] = in[blockIdx.x * blockDim.x + t];
    __syncthreads();
    if (t < 32) {
        s[t] += s[t + 32];
        s[t] += s[t + 16];
    }
    __syncthreads();
    if (t == 0) out[blockIdx.x] = s[0] + s[8];
}

template <int block>
__global__ void unrolled_skips_barrier(const int* in, int* out) {
    __shared__ int s[block];
    int t = threadIdx.x;
    s[t] = in[blockIdx.x * block + t];
    __syncthreads();
    if (block >= 256) {
        if (t < 128) s[t] += s[t + 128];
    }
    if (block >= 128) {
        if (t < 64) s[t] += s[t + 64];
        __syncthreads();
    }
    if (t == 0) out[blockIdx.x] = s[0];
}

void sum(const int* in, int* out) {
    unrolled_skips_barrier<256><<<64, 256>>>(in, out);
}

// selvage: block=128 grid=2 arg(n=400)
__global__ void barrier_in_guard(const int* in, int* out, int n) {
    __shared__ int s[128];
    int t = threadIdx.x;
    int x = 0;
    for (int i = blockIdx.x * blockDim.x + t; i < n; i += blockDim.x * gridDim.x) {
        x += in[i];
        s[t] = x;
        __syncthreads();
    }
    if (t == 0) out[blockIdx.x] = s[0];
}

__device__ int warp_sum(int x) {
    for (int offset = 16; offset > 0; offset /= 2)
        x += __shfl_down_sync(0xffffffffu, x, offset);
    return x;
}

// selvage: block=256 grid=2
__global__ void warps_without_barrier(const int* in, int* out) {
    __shared__ int warps[8];
    int t = threadIdx.x;
    int x = warp_sum(in[blockIdx.x * blockDim.x + t]);
    if (t % 32 == 0)
        warps[t / 32] = x;
    if (t == 0) {
        int sum = 0;
        for (int w = 0; w < 8; ++w)
            sum += warps[w];
        out[blockIdx.x] = sum;
    }
}

// The second sum overwrites elements of the first that slower warps still read.
// selvage: block=256 grid=2
__global__ void warps_reused(const int* in, int* out) {
    __shared__ int warps[8];
    int t = threadIdx.x;
    int x = in[blockIdx.x * blockDim.x + t];
    for (int k = 0; k < 2; ++k) {
        int partial = warp_sum(x);
        if (t % 32 == 0)
            warps[t / 32] = partial;
        __syncthreads();
        int sum = 0;
        for (int w = 0; w < 8; ++w)
            sum += warps[w];
        x = x * x - sum;
    }
    out[blockIdx.x * blockDim.x + t] = x;
}
