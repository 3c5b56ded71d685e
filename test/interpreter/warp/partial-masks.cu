// run: half_warps block=32 args(out=int32[32]:zeros) expect=clean
// run: half_warps_crossed block=32 args(out=int32[32]:zeros) expect=race lines 25,27 space shared
// run: odd_lanes block=64 args(out=int32[64]:zeros) expect=clean
// run: odd_lanes_read_even block=64 args(out=int32[64]:zeros) expect=race lines 43,46 space shared
// run: mask_in_branches block=32 args(out=int32[32]:zeros) expect=clean
// run: missing_lanes block=32 args(out=int32[32]:zeros) expect=missing-lanes line 70
// run: rotating_quads block=32 args(out=int32[32]:zeros) expect=clean
// run: nested_masks block=32 args(out=int32[32]:zeros) expect=clean
//
// __syncwarp(mask) orders the lanes that it names; a chain of masks orders along the chain.

__global__ void half_warps(int* out) {
    __shared__ int s[32];
    const int t = threadIdx.x;
    const unsigned mask = t < 16 ? 0x0000ffffu : 0xffff0000u;
    s[t] = 10 * t;
    __syncwarp(mask);
    out[t] = s[t ^ 15];
}

__global__ void half_warps_crossed(int* out) {
    __shared__ int s[32];
    const int t = threadIdx.x;
    const unsigned mask = t < 16 ? 0x0000ffffu : 0xffff0000u;
    s[t] = 10 * t;
    __syncwarp(mask);
    out[t] = s[t ^ 31];
}

__global__ void odd_lanes(int* out) {
    __shared__ int s[64];
    const int t = threadIdx.x;
    s[t] = t + 1;
    if (t & 1) {
        __syncwarp(0xaaaaaaaau);
        out[t] = s[t ^ 2];
    }
}

__global__ void odd_lanes_read_even(int* out) {
    __shared__ int s[64];
    const int t = threadIdx.x;
    s[t] = t + 1;
    if (t & 1) {
        __syncwarp(0xaaaaaaaau);
        out[t] = s[t ^ 3];
    }
}

// Both sides of a branch wait for the whole warp: one barrier.
__global__ void mask_in_branches(int* out) {
    __shared__ int s[32];
    const int t = threadIdx.x;
    if (t < 8) {
        s[t] = t;
        __syncwarp();
        out[t] = s[t + 8];
    } else {
        s[t] = -t;
        __syncwarp();
        out[t] = s[t & 7];
    }
}

// Half of the lanes wait for the others, which wait at the barrier of the block.
__global__ void missing_lanes(int* out) {
    __shared__ int s[32];
    const int t = threadIdx.x;
    s[t] = t;
    if (t < 16) __syncwarp();
    __syncthreads();
    out[t] = s[31 - t];
}

__global__ void rotating_quads(int* out) {
    __shared__ int s[32];
    const int t = threadIdx.x;
    const unsigned quad = 0xfu << (t & ~3);
    s[t] = t;
    __syncwarp(quad);
    int sum = 0;
    for (int k = 0; k < 4; k++) {
        sum += s[(t & ~3) | ((t + k) & 3)];
        __syncwarp(quad);
        s[t] += 1;
        __syncwarp(quad);
    }
    out[t] = sum;
}

// Lane 0 hears of lane 9 through lane 8.
__global__ void nested_masks(int* out) {
    __shared__ int s[32];
    const int t = threadIdx.x;
    s[t] = 5 * t;
    if (t == 8 || t == 9) __syncwarp(0x300u);
    if (t == 0 || t == 8) __syncwarp(0x101u);
    if (t == 0) out[0] = s[9];
}
