// run: warp_reduce block=64 args(in=int32[64]:iota, out=int32[2]:zeros) expect=clean
// run: warp_reduce_no_syncwarp block=64 args(in=int32[64]:iota, out=int32[2]:zeros) expect=race lines 30,32 lines 32,32 space shared
// run: warp_reduce_one_syncwarp block=64 args(in=int32[64]:iota, out=int32[2]:zeros) expect=race lines 44,45 space shared
// run: warp_reduce_over_warps block=64 args(in=int32[64]:iota, out=int32[1]:zeros) expect=race lines 54,56 space shared
// run: volatile_warp_exchange block=32 args(in=int32[32]:iota, out=int32[32]:zeros) expect=clean
// run: lane_zero_publishes block=64 args(in=int32[64]:iota, out=int32[64]:zeros) expect=clean
// run: lane_zero_publishes_no_syncwarp block=64 args(in=int32[64]:iota, out=int32[64]:zeros) expect=race lines 80,82 space shared
//
// Shared memory within a warp: __syncwarp() orders its lanes, and only them.

__global__ void warp_reduce(const int* in, int* out) {
    __shared__ int s[64];
    const int t = threadIdx.x, lane = t & 31;
    s[t] = in[t];
    __syncwarp();
    for (int d = 16; d > 0; d >>= 1) {
        const int v = lane < d ? s[t + d] : 0;
        __syncwarp();
        s[t] += v;
        __syncwarp();
    }
    if (lane == 0) out[t / 32] = s[t];
}

__global__ void warp_reduce_no_syncwarp(const int* in, int* out) {
    __shared__ int s[64];
    const int t = threadIdx.x, lane = t & 31;
    s[t] = 0;
    __syncthreads();
    s[t] = in[t];
    for (int d = 16; d > 0; d >>= 1) {
        if (lane < d) s[t] += s[t + d];
    }
    if (lane == 0) out[t / 32] = s[t];
}

// The reads of an iteration are not ordered before its writes.
__global__ void warp_reduce_one_syncwarp(const int* in, int* out) {
    __shared__ int s[64];
    const int t = threadIdx.x, lane = t & 31;
    s[t] = in[t];
    __syncwarp();
    for (int d = 16; d > 0; d >>= 1) {
        const int v = s[t ^ d];
        s[t] += v;
        __syncwarp();
    }
    if (lane == 0) out[t / 32] = s[t];
}

__global__ void warp_reduce_over_warps(const int* in, int* out) {
    __shared__ int s[64];
    const int t = threadIdx.x;
    s[t] = in[t];
    __syncwarp();
    if (t < 32) atomicAdd(out, s[t + 32]);
}

// Volatile accesses of the same bytes do not race; what is read depends on the order all the same.
__global__ void volatile_warp_exchange(const int* in, int* out) {
    __shared__ volatile int s[32];
    const int t = threadIdx.x;
    s[t] = in[t];
    s[t ^ 1] = in[t];
    out[t] = s[t] >> 1;
}

__global__ void lane_zero_publishes(const int* in, int* out) {
    __shared__ int first[2];
    const int t = threadIdx.x;
    if ((t & 31) == 0) first[t / 32] = in[t];
    __syncwarp();
    out[t] = first[t / 32];
}

__global__ void lane_zero_publishes_no_syncwarp(const int* in, int* out) {
    __shared__ int first[2];
    const int t = threadIdx.x;
    if ((t & 31) == 0) {
        first[t / 32] = in[t];
    }
    out[t] = first[t / 32];
}
