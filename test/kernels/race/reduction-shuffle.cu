// expect: block_sum race=proved divergence=proved
//
// Values travel in registers inside a warp; one element of shared memory a warp carries them across.

__inline__ __device__ float warp_sum(float v) {
    for (int offset = 16; offset > 0; offset /= 2) {
        v += __shfl_down_sync(0xffffffff, v, offset);
    }
    return v;
}

// selvage: block=256 grid=8
__global__ void block_sum(const float* in, float* out) {
    __shared__ float warps[32];
    int lane = threadIdx.x % 32;
    int warp = threadIdx.x / 32;

    float v = warp_sum(in[blockIdx.x * blockDim.x + threadIdx.x]);
    if (lane == 0) warps[warp] = v;
    __syncthreads();

    v = threadIdx.x < blockDim.x / 32 ? warps[lane] : 0.0f;
    if (warp == 0) v = warp_sum(v);
    if (threadIdx.x == 0) out[blockIdx.x] = v;
}
