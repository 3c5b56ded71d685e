// expect: interleaved_modulo race=proved divergence=proved
// expect: interleaved_strided race=proved divergence=proved
// expect: halving race=proved divergence=proved
// expect: first_add_on_load race=proved divergence=proved
// expect: last_warp_by_steps race=proved divergence=proved
// expect: unrolled<256> race=proved divergence=proved
// expect: many_per_thread<256> race=proved divergence=proved
// expect: by_shuffles race=proved divergence=proved
//
// Eight reductions of a block, each faster than the one before: strides that double with a modulo, with
// an index per thread, strides that halve, two elements on loading, the last warp unrolled, with a block size
// known to the compiler, many elements a thread, and by shuffles.

__global__ void interleaved_modulo(const int* in, int* out) {
    extern __shared__ int s[];
    int t = threadIdx.x;
    s[t] = in[blockIdx.x * blockDim.x + t];
    __syncthreads();
    for (int stride = 1; stride < blockDim.x; stride *= 2) {
        if (t % (2 * stride) == 0 && t + stride < blockDim.x)
            s[t] += s[t + stride];
        __syncthreads();
    }
    if (t == 0) out[blockIdx.x] = s[0];
}

__global__ void interleaved_strided(const int* in, int* out) {
    extern __shared__ int s[];
    int t = threadIdx.x;
    s[t] = in[blockIdx.x * blockDim.x + t];
    __syncthreads();
    for (int stride = 1; stride < blockDim.x; stride *= 2) {
        int at = 2 * stride * t;
        if (at + stride < blockDim.x)
            s[at] += s[at + stride];
        __syncthreads();
    }
    if (t == 0) out[blockIdx.x] = s[0];
}

__global__ void halving(const int* in, int* out) {
    extern __shared__ int s[];
    int t = threadIdx.x;
    s[t] = in[blockIdx.x * blockDim.x + t];
    __syncthreads();
    for (int half = blockDim.x / 2; half > 0; half >>= 1) {
        if (t < half)
            s[t] += s[t + half];
        __syncthreads();
    }
    if (t == 0) out[blockIdx.x] = s[0];
}

__global__ void first_add_on_load(const int* in, int* out, int n) {
    extern __shared__ int s[];
    int t = threadIdx.x;
    int i = blockIdx.x * blockDim.x * 2 + t;
    int sum = i < n ? in[i] : 0;
    if (i + blockDim.x < n)
        sum += in[i + blockDim.x];
    s[t] = sum;
    __syncthreads();
    for (int half = blockDim.x / 2; half > 0; half >>= 1) {
        if (t < half)
            s[t] = sum = sum + s[t + half];
        __syncthreads();
    }
    if (t == 0) out[blockIdx.x] = sum;
}

// selvage: block=256
__global__ void last_warp_by_steps(const int* in, int* out) {
    __shared__ int s[256];
    int t = threadIdx.x;
    s[t] = in[blockIdx.x * blockDim.x + t];
    __syncthreads();
    for (int half = blockDim.x / 2; half > 32; half >>= 1) {
        if (t < half)
            s[t] += s[t + half];
        __syncthreads();
    }
    if (t < 32) {
        int sum = s[t];
        sum += s[t + 32];
        __syncwarp();
        s[t] = sum;
        __syncwarp();
        sum += s[t + 16];
        __syncwarp();
        s[t] = sum;
        __syncwarp();
        sum += s[t + 8];
        __syncwarp();
        s[t] = sum;
        __syncwarp();
        sum += s[t + 4];
        __syncwarp();
        s[t] = sum;
        __syncwarp();
        sum += s[t + 2];
        __syncwarp();
        s[t] = sum;
        __syncwarp();
        sum += s[t + 1];
        if (t == 0) out[blockIdx.x] = sum;
    }
}

__device__ int warp_sum(int x) {
    for (int offset = 16; offset > 0; offset /= 2)
        x += __shfl_down_sync(0xffffffffu, x, offset);
    return x;
}

template <int block>
__device__ int block_sum(int* s, int x) {
    int t = threadIdx.x;
    s[t] = x;
    __syncthreads();
    if (block >= 512) {
        if (t < 256) s[t] += s[t + 256];
        __syncthreads();
    }
    if (block >= 256) {
        if (t < 128) s[t] += s[t + 128];
        __syncthreads();
    }
    if (block >= 128) {
        if (t < 64) s[t] += s[t + 64];
        __syncthreads();
    }
    return t < 32 ? warp_sum(s[t] + s[t + 32]) : 0;
}

template <int block>
__global__ void unrolled(const int* in, int* out) {
    __shared__ int s[block];
    int sum = block_sum<block>(s, in[blockIdx.x * block + threadIdx.x]);
    if (threadIdx.x == 0) out[blockIdx.x] = sum;
}

template <int block>
__global__ void many_per_thread(const int* in, int* out, int n) {
    __shared__ int s[block];
    int x = 0;
    for (int i = blockIdx.x * block * 2 + threadIdx.x; i < n; i += block * 2 * gridDim.x) {
        x += in[i];
        if (i + block < n) x += in[i + block];
    }
    int sum = block_sum<block>(s, x);
    if (threadIdx.x == 0) out[blockIdx.x] = sum;
}

void sum(const int* in, int* part, int* out, int n) {
    unrolled<256><<<n / 256, 256>>>(in, part);
    many_per_thread<256><<<64, 256>>>(in, out, n);
}

// One element a warp carries the sums across.
__global__ void by_shuffles(const int* in, int* out, int n) {
    __shared__ int warps[32];
    int x = 0;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x)
        x += in[i];
    x = warp_sum(x);
    if (threadIdx.x % 32 == 0)
        warps[threadIdx.x / 32] = x;
    __syncthreads();
    if (threadIdx.x < 32) {
        x = threadIdx.x < (blockDim.x + 31) / 32 ? warps[threadIdx.x] : 0;
        x = warp_sum(x);
        if (threadIdx.x == 0) out[blockIdx.x] = x;
    }
}
