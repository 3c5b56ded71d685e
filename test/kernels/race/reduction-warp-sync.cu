// expect: reduce_warp race=proved divergence=proved
// expect: reduce_block race=proved divergence=proved
// expect: rotate_in_warp race=proved divergence=proved
// expect: rotate_without_barrier race=race divergence=proved finding race/shared lines 59,60
// expect: rotate_over_warps race=race divergence=proved finding race/shared lines 67,69
//
// __syncwarp() orders the threads of a warp, and no others.

// selvage: block=32 grid=4
__global__ void reduce_warp(const float* in, float* out) {
    __shared__ float s[32];
    const int t = threadIdx.x;
    s[t] = in[blockIdx.x * 32 + t];
    __syncwarp();
    for (int d = 16; d > 0; d >>= 1) {
        float v = t < d ? s[t + d] : 0.0f;
        __syncwarp();
        s[t] += v;
        __syncwarp();
    }
    if (t == 0) out[blockIdx.x] = s[0];
}

// Only the last warp continues.
// selvage: block=256 grid=4
__global__ void reduce_block(const float* in, float* out) {
    __shared__ float s[256];
    const int t = threadIdx.x;
    s[t] = in[blockIdx.x * 256 + t];
    __syncthreads();
    for (int d = 128; d >= 32; d >>= 1) {
        if (t < d) s[t] += s[t + d];
        __syncthreads();
    }
    if (t < 32) {
        for (int d = 16; d > 0; d >>= 1) {
            float v = t < d ? s[t + d] : 0.0f;
            __syncwarp();
            s[t] += v;
            __syncwarp();
        }
    }
    if (t == 0) out[blockIdx.x] = s[0];
}

// selvage: block=16,8 grid=4
__global__ void rotate_in_warp(const float* in, float* out) {
    __shared__ float s[128];
    const int t = threadIdx.y * 16 + threadIdx.x;
    s[t] = in[blockIdx.x * 128 + t];
    __syncwarp();
    out[blockIdx.x * 128 + t] = s[t / 32 * 32 + (t + 1) % 32];
}

// selvage: block=128 grid=4
__global__ void rotate_without_barrier(const float* in, float* out) {
    __shared__ float s[128];
    const int t = threadIdx.x;
    s[t] = in[blockIdx.x * 128 + t];
    out[blockIdx.x * 128 + t] = s[t / 32 * 32 + (t + 1) % 32];
}

// selvage: block=128 grid=4
__global__ void rotate_over_warps(const float* in, float* out) {
    __shared__ float s[128];
    const int t = threadIdx.x;
    s[t] = in[blockIdx.x * 128 + t];
    __syncwarp();
    out[blockIdx.x * 128 + t] = s[(t + 1) % 128];
}
