// run: shuffle_reduce block=64 args(in=int32[64]:iota, out=int32[2]:zeros) expect=clean
// run: shuffle_forms block=32 args(in=int32[32]:iota, out=int32[128]:zeros) expect=clean
// run: shuffle_orders_nothing block=32 args(out=int32[32]:zeros) expect=race lines 30,32 warp-exchange space shared
// run: vote_orders_nothing block=32 args(out=int32[32]:zeros) expect=race lines 38,39 warp-exchange space shared
// run: shuffle_then_syncwarp block=32 args(out=int32[32]:zeros) expect=clean
// run: votes block=64 args(in=int32[64]:iota, out=uint32[256]:zeros) expect=clean
// run: match_and_reduce block=32 args(in=int32[32]:iota, out=uint32[128]:zeros) expect=clean
// run: shuffle_between_warps block=128 args(in=int32[128]:iota, out=int32[1]:zeros) expect=clean
// run: shuffle_between_warps_missing_barrier block=128 args(in=int32[128]:iota, out=int32[1]:zeros) expect=race lines 86,88 space shared
//
// Exchanges of registers among lanes: they pass values, and do not order memory.

__global__ void shuffle_reduce(const int* in, int* out) {
    int v = in[threadIdx.x];
    for (int d = 16; d > 0; d >>= 1) v += __shfl_down_sync(0xffffffffu, v, d);
    if ((threadIdx.x & 31) == 0) out[threadIdx.x / 32] = v;
}

__global__ void shuffle_forms(const int* in, int* out) {
    const int t = threadIdx.x, v = in[t];
    out[t] = __shfl_sync(0xffffffffu, v, 7);
    out[32 + t] = __shfl_up_sync(0xffffffffu, v, 3);
    out[64 + t] = __shfl_xor_sync(0xffffffffu, v, 5);
    out[96 + t] = __shfl_sync(0xffffffffu, v, 2, 8);
}

__global__ void shuffle_orders_nothing(int* out) {
    __shared__ int s[32];
    const int t = threadIdx.x;
    s[t] = t;
    const int from = __shfl_sync(0xffffffffu, 31 - t, t);
    out[t] = s[from];
}

__global__ void vote_orders_nothing(int* out) {
    __shared__ int s[32];
    const int t = threadIdx.x;
    s[t] = t;
    if (__all_sync(0xffffffffu, t < 32)) out[t] = s[31 - t];
}

__global__ void shuffle_then_syncwarp(int* out) {
    __shared__ int s[32];
    const int t = threadIdx.x;
    s[t] = t;
    const int from = __shfl_sync(0xffffffffu, 31 - t, t);
    __syncwarp();
    out[t] = s[from];
}

__global__ void votes(const int* in, unsigned* out) {
    const int t = threadIdx.x, v = in[t];
    out[t] = __ballot_sync(0xffffffffu, v % 3 == 0);
    out[64 + t] = __any_sync(0xffffffffu, v == 40);
    out[128 + t] = __all_sync(0xffffffffu, v < 32);
    out[192 + t] = (t & 1) ? __activemask() & (1u << (t & 31)) : 0;
}

__global__ void match_and_reduce(const int* in, unsigned* out) {
    const int t = threadIdx.x, v = in[t];
    out[t] = __match_any_sync(0xffffffffu, v % 5);
    int same;
    out[32 + t] = __match_all_sync(0xffffffffu, v / 32, &same) & (same ? ~0u : 0u);
    out[64 + t] = __reduce_add_sync(0xffffffffu, (unsigned)v);
    out[96 + t] = __reduce_max_sync(0xffffffffu, (unsigned)(v * 7 % 32));
}

__global__ void shuffle_between_warps(const int* in, int* out) {
    __shared__ int sums[4];
    const int t = threadIdx.x;
    int v = in[t];
    for (int d = 16; d > 0; d >>= 1) v += __shfl_xor_sync(0xffffffffu, v, d);
    if ((t & 31) == 0) sums[t / 32] = v;
    __syncthreads();
    if (t == 0) *out = sums[0] + sums[1] + sums[2] + sums[3];
}

__global__ void shuffle_between_warps_missing_barrier(const int* in, int* out) {
    __shared__ int sums[4];
    const int t = threadIdx.x;
    int v = in[t];
    if (t < 4) sums[t] = 0;
    __syncthreads();
    for (int d = 16; d > 0; d >>= 1) v += __shfl_xor_sync(0xffffffffu, v, d);
    if ((t & 31) == 0) {
        sums[t / 32] = v;
    }
    if (t == 0) *out = sums[0] + sums[1] + sums[2] + sums[3];
}
