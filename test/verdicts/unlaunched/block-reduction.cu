// expect: reduce_warps_any race=proved divergence=proved
// expect: reduce_warps_any silent
// expect: reduce_warps_in_step_any race=race divergence=proved
// expect: reduce_warps_in_step_any finding race/shared error on s lines 45,48
// expect: reduce_butterfly_any race=proved divergence=proved
// expect: reduce_butterfly_any silent
// expect: reduce_butterfly_any precondition "blockDim.x % 32 == 0"
// expect: reduce_butterfly_any assumes equal-value-writes
// expect: reduce_butterfly_any finding race/shared notice on s lines 63
// expect: reduce_every_lane_any race=race divergence=proved
// expect: reduce_every_lane_any finding race/shared error on s lines 76
// expect: reverse_small_block_any race=race divergence=proved
// expect: reverse_small_block_any finding race/shared warning on s lines 86,89 when "blockDim.x <= 32"
// expect: reduce_tail_any race=proved divergence=proved
// expect: reduce_tail_any silent
// expect: reduce_volatile_tail_any race=race divergence=proved
// expect: reduce_volatile_tail_any finding race/volatile warning on s lines 114,115,116

__global__ void reduce_warps_any(float* out, const float* in, int n) {
    __shared__ float s[32];
    int t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
    float v = i < n ? in[i] : 0.0f;
    for (int d = 16; d > 0; d /= 2)
        v += __shfl_down_sync(0xffffffffu, v, d);
    if (t % 32 == 0)
        s[t / 32] = v;
    __syncthreads();
    if (t < 32) {
        v = t < blockDim.x / 32 ? s[t] : 0.0f;
        for (int d = 16; d > 0; d /= 2)
            v += __shfl_down_sync(0xffffffffu, v, d);
        if (t == 0)
            out[blockIdx.x] = v;
    }
}

// A barrier of the warp instead of one of the block. Only a block of one warp is correct, and that is a small launch.
__global__ void reduce_warps_in_step_any(float* out, const float* in, int n) {
    __shared__ float s[32];
    int t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
    float v = i < n ? in[i] : 0.0f;
    for (int d = 16; d > 0; d /= 2)
        v += __shfl_down_sync(0xffffffffu, v, d);
    if (t % 32 == 0)
        s[t / 32] = v;
    __syncwarp();
    if (t < 32) {
        v = t < blockDim.x / 32 ? s[t] : 0.0f;
        for (int d = 16; d > 0; d /= 2)
            v += __shfl_down_sync(0xffffffffu, v, d);
        if (t == 0)
            out[blockIdx.x] = v;
    }
}

// All lanes have the sum and store it with one instruction.
__global__ void reduce_butterfly_any(float* out, const float* in, int n) {
    __shared__ float s[32];
    int t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
    float v = i < n ? in[i] : 0.0f;
    for (int d = 16; d > 0; d /= 2)
        v += __shfl_xor_sync(0xffffffffu, v, d);
    s[t / 32] = v;
    __syncthreads();
    if (t < blockDim.x / 32)
        out[blockIdx.x * 32 + t] = s[t];
}

// Only lane 0 has the sum, but all lanes store their values.
__global__ void reduce_every_lane_any(float* out, const float* in, int n) {
    __shared__ float s[32];
    int t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
    float v = i < n ? in[i] : 0.0f;
    for (int d = 16; d > 0; d /= 2)
        v += __shfl_down_sync(0xffffffffu, v, d);
    s[t / 32] = v;
    __syncthreads();
    if (t < blockDim.x / 32)
        out[blockIdx.x * 32 + t] = s[t];
}

// The author assumed that the threads of one warp execute in lockstep.
__global__ void reverse_small_block_any(float* a) {
    __shared__ float s[256];
    int t = threadIdx.x;
    s[t] = a[blockIdx.x * blockDim.x + t];
    if (blockDim.x > 32)
        __syncthreads();
    a[blockIdx.x * blockDim.x + t] = s[blockDim.x - 1 - t];
}

// One warp takes the last steps, and its lanes wait for each other.
__global__ void reduce_tail_any(float* out, const float* in) {
    __shared__ float s[128];
    int t = threadIdx.x;
    s[t] = in[blockIdx.x * blockDim.x + t];
    __syncthreads();
    if (t < 32) {
        s[t] += s[t + 32];
        __syncwarp();
        if (t < 16)
            out[blockIdx.x * 16 + t] = s[t] + s[t + 16];
    }
}

// The last steps within one warp, through volatile memory and without any barrier.
__global__ void reduce_volatile_tail_any(float* out, const float* in) {
    __shared__ float s[128];
    int t = threadIdx.x;
    s[t] = in[blockIdx.x * blockDim.x + t];
    __syncthreads();
    if (t < 32) {
        volatile float* v = s;
        v[t] += v[t + 32];
        v[t] += v[t + 16];
        v[t] += v[t + 8];
    }
    __syncthreads();
    if (t < 8)
        out[blockIdx.x * 8 + t] = s[t];
}
