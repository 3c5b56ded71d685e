// expect: sum_in_one_pass race=proved divergence=proved
// expect: no_fence race=race divergence=proved finding race/global lines 60,67
// expect: no_acquire race=race divergence=proved finding race/global lines 80,88
// expect: count_before_sum race=race divergence=proved finding race/global lines 105,110
//
// A sum in one launch: every block adds up its part, and the block that finishes last adds up the parts. It also puts
// the counter back, which no other block touches any more.

// The sum of a block's values, in thread 0.
__device__ float block_sum(float x) {
    __shared__ float s[1024];
    int t = threadIdx.x;
    s[t] = x;
    __syncthreads();
    for (int half = blockDim.x / 2; half > 0; half /= 2) {
        if (t < half)
            s[t] += s[t + half];
        __syncthreads();
    }
    float sum = s[0];
    __syncthreads();
    return sum;
}

__device__ float part_sum(const float* in, int n) {
    float x = 0.0f;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        x += in[i];
    return block_sum(x);
}

// selvage: assume(count[*] in 0..0)
__global__ void sum_in_one_pass(const float* in, float* parts, float* out, unsigned* count, int n) {
    __shared__ bool last;
    float sum = part_sum(in, n);
    if (threadIdx.x == 0) {
        parts[blockIdx.x] = sum;
        __threadfence();
        last = atomicAdd(count, 1u) == gridDim.x - 1;
        __threadfence();
    }
    __syncthreads();
    if (last) {
        float x = 0.0f;
        for (int b = threadIdx.x; b < gridDim.x; b += blockDim.x)
            x += parts[b];
        float total = block_sum(x);
        if (threadIdx.x == 0) {
            *out = total;
            *count = 0;
        }
    }
}

// selvage: block=64 grid=4 arg(n=1024) assume(count[*] in 0..0)
__global__ void no_fence(const float* in, float* parts, float* out, unsigned* count, int n) {
    __shared__ bool last;
    float sum = part_sum(in, n);
    if (threadIdx.x == 0) {
        parts[blockIdx.x] = sum;
        last = atomicAdd(count, 1u) == gridDim.x - 1;
    }
    __syncthreads();
    if (last) {
        float x = 0.0f;
        for (int b = threadIdx.x; b < gridDim.x; b += blockDim.x)
            x += parts[b];
        float total = block_sum(x);
        if (threadIdx.x == 0)
            *out = total;
    }
}

// The barrier does not make up for it: it orders the threads of one block.
// selvage: block=64 grid=4 arg(n=1024) assume(count[*] in 0..0)
__global__ void no_acquire(const float* in, float* parts, float* out, unsigned* count, int n) {
    __shared__ bool last;
    float sum = part_sum(in, n);
    if (threadIdx.x == 0) {
        parts[blockIdx.x] = sum;
        __threadfence();
        last = atomicAdd(count, 1u) == gridDim.x - 1;
    }
    __syncthreads();
    if (last) {
        float x = 0.0f;
        for (int b = threadIdx.x; b < gridDim.x; b += blockDim.x)
            x += parts[b];
        float total = block_sum(x);
        if (threadIdx.x == 0)
            *out = total;
    }
}

// selvage: block=64 grid=4 arg(n=1024) assume(count[*] in 0..0)
__global__ void count_before_sum(const float* in, float* parts, float* out, unsigned* count, int n) {
    __shared__ bool last;
    if (threadIdx.x == 0) {
        asm volatile("fence.acq_rel.gpu;" ::: "memory");
        last = atomicAdd(count, 1u) == gridDim.x - 1;
        asm volatile("fence.acq_rel.gpu;" ::: "memory");
    }
    float sum = part_sum(in, n);
    if (threadIdx.x == 0)
        parts[blockIdx.x] = sum;
    __syncthreads();
    if (last) {
        float x = 0.0f;
        for (int b = threadIdx.x; b < gridDim.x; b += blockDim.x)
            x += parts[b];
        float total = block_sum(x);
        if (threadIdx.x == 0)
            *out = total;
    }
}
