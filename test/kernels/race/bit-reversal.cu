// expect: scatter_reversed race=proved divergence=proved
// expect: compact_by_mask race=proved divergence=proved
// expect: scatter_collides race=race divergence=proved finding race/shared lines 31,31
// expect: compact_by_short_mask race=race divergence=proved finding race/global lines 39,39
//
// Indices are the reversed bits of an index, or the number of bits set below it. In the broken versions a
// bit is lost, and the mask counts too few.

extern __shared__ float s[];

// selvage: grid=4 assume((blockDim.x & (blockDim.x - 1)) == 0)
__global__ void scatter_reversed(const float* in, float* out) {
    unsigned t = threadIdx.x;
    s[__brev(t) >> (__clz(blockDim.x) + 1)] = in[blockIdx.x * blockDim.x + t];
    __syncthreads();
    out[blockIdx.x * blockDim.x + t] = s[t];
}

// selvage: block=64 grid=4
__global__ void compact_by_mask(const float* in, float* out, unsigned kept) {
    unsigned lane = threadIdx.x % 32, warp = (blockIdx.x * blockDim.x + threadIdx.x) / 32;
    if ((kept >> lane) & 1) out[warp * 32 + __popc(kept & ((1u << lane) - 1))] = in[threadIdx.x];
}

// selvage: grid=4 assume((blockDim.x & (blockDim.x - 1)) == 0)
__global__ void scatter_collides(const float* in, float* out) {
    unsigned t = threadIdx.x;
    unsigned bits = 31 - __clz(blockDim.x);
    if (blockDim.x >= 4)
        // The lowest bit of the index is the highest of the bits shifted out.
        s[__brev(t << 1) >> (33 - bits)] = in[blockIdx.x * blockDim.x + t];
    __syncthreads();
    out[blockIdx.x * blockDim.x + t] = blockDim.x >= 4 ? s[t / 2] : 0;
}

// selvage: block=64 grid=4 arg(kept=0xffffffff)
__global__ void compact_by_short_mask(const float* in, float* out, unsigned kept) {
    unsigned lane = threadIdx.x % 32, warp = (blockIdx.x * blockDim.x + threadIdx.x) / 32;
    if ((kept >> lane) & 1) out[warp * 32 + __popc(kept & ((1u << (lane & 30)) - 1))] = in[threadIdx.x];
}
