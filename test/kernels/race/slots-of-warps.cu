// expect: compact race=proved divergence=proved
// expect: compact_rounds race=proved divergence=proved
// expect: compact_by_old_vote race=race divergence=proved finding race/global lines 49,49
// expect: counts_itself_alone race=race divergence=proved finding race/global lines 62,62
// expect: counts_half race=race divergence=proved finding race/global lines 74,74
// expect: keeps_all race=race divergence=proved finding race/global lines 86,86
// expect: first_of_block race=race divergence=proved finding race/global lines 98,98
// expect: told_by_another race=race divergence=proved finding race/global lines 110,110
// expect: counts_others race=race divergence=proved finding race/global lines 122,122
//
// Slots that the threads of a warp draw together.

// Elements that are kept, close together.
// selvage: block=128 grid=4
__global__ void compact(const int* in, int* out, int* count) {
    const int t = threadIdx.x, i = blockIdx.x * 128 + t;
    const bool keeps = in[i] > 0;
    const unsigned kept = __ballot_sync(0xffffffffu, keeps);
    int start = 0;
    if (t % 32 == 0) start = atomicAdd(count, __popc(kept));
    start = __shfl_sync(0xffffffffu, start, 0);
    if (keeps) out[start + __popc(kept & ((1u << (t & 31)) - 1))] = i;
}

// Iteration by iteration.
__global__ void compact_rounds(const int* in, int* out, int* count, int n) {
    const int t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
    for (int k = 0; k < n; k++) {
        const bool keeps = in[i] > k;
        const unsigned kept = __ballot_sync(0xffffffffu, keeps);
        int start = 0;
        if ((t & 31) == 0) start = atomicAdd(count, __popc(kept));
        start = __shfl_sync(0xffffffffu, start, 0);
        if (keeps) out[start + __popc(kept & ((1u << (t & 31)) - 1))] = i;
    }
}

// The vote of the first iteration does not determine the count of the second.
// selvage: block=64 grid=2
__global__ void compact_by_old_vote(const int* in, int* out, int* count) {
    const int t = threadIdx.x, i = blockIdx.x * 64 + t;
    unsigned kept = 0;
    for (int k = 0; k < 2; k++) {
        const bool keeps = k == 0 ? t == 0 : in[i] > 0;
        int start = 0;
        if ((t & 31) == 0) start = atomicAdd(count, __popc(kept));
        kept = __ballot_sync(0xffffffffu, keeps);
        start = __shfl_sync(0xffffffffu, start, 0);
        if (keeps) out[start + __popc(kept & ((1u << (t & 31)) - 1))] = i;
    }
}

// Warps reserve one slot each.
// selvage: block=64 grid=2
__global__ void counts_itself_alone(const int* in, int* out, int* count) {
    const int t = threadIdx.x, i = blockIdx.x * 64 + t;
    const bool keeps = in[i] > 0;
    const unsigned kept = __ballot_sync(0xffffffffu, keeps);
    int start = 0;
    if (t % 32 == 0) start = atomicAdd(count, 1);
    start = __shfl_sync(0xffffffffu, start, 0);
    if (keeps) out[start + __popc(kept & ((1u << (t & 31)) - 1))] = i;
}

// Lanes with a distance of 16 count the same ones.
// selvage: block=64 grid=2
__global__ void counts_half(const int* in, int* out, int* count) {
    const int t = threadIdx.x, i = blockIdx.x * 64 + t;
    const bool keeps = in[i] > 0;
    const unsigned kept = __ballot_sync(0xffffffffu, keeps);
    int start = 0;
    if (t % 32 == 0) start = atomicAdd(count, __popc(kept));
    start = __shfl_sync(0xffffffffu, start, 0);
    if (keeps) out[start + __popc(kept & ((1u << (t & 15)) - 1))] = i;
}

// Those that are not counted store too.
// selvage: block=64 grid=2
__global__ void keeps_all(const int* in, int* out, int* count) {
    const int t = threadIdx.x, i = blockIdx.x * 64 + t;
    const bool keeps = in[i] > 0;
    const unsigned kept = __ballot_sync(0xffffffffu, keeps);
    int start = 0;
    if (t % 32 == 0) start = atomicAdd(count, __popc(kept));
    start = __shfl_sync(0xffffffffu, start, 0);
    out[start + __popc(kept & ((1u << (t & 31)) - 1))] = i;
}

// Only the first warp takes slots.
// selvage: block=64 grid=2
__global__ void first_of_block(const int* in, int* out, int* count) {
    const int t = threadIdx.x, i = blockIdx.x * 64 + t;
    const bool keeps = in[i] > 0;
    const unsigned kept = __ballot_sync(0xffffffffu, keeps);
    int start = 0;
    if (t == 0) start = atomicAdd(count, __popc(kept));
    start = __shfl_sync(0xffffffffu, start, 0);
    if (keeps) out[start + __popc(kept & ((1u << (t & 31)) - 1))] = i;
}

// Lane 1 has no value to share.
// selvage: block=64 grid=2
__global__ void told_by_another(const int* in, int* out, int* count) {
    const int t = threadIdx.x, i = blockIdx.x * 64 + t;
    const bool keeps = in[i] > 0;
    const unsigned kept = __ballot_sync(0xffffffffu, keeps);
    int start = 0;
    if (t % 32 == 0) start = atomicAdd(count, __popc(kept));
    start = __shfl_sync(0xffffffffu, start, 1);
    if (keeps) out[start + __popc(kept & ((1u << (t & 31)) - 1))] = i;
}

// Slots are reserved for the elements that are not kept.
// selvage: block=64 grid=2
__global__ void counts_others(const int* in, int* out, int* count) {
    const int t = threadIdx.x, i = blockIdx.x * 64 + t;
    const bool keeps = in[i] > 0;
    const unsigned kept = __ballot_sync(0xffffffffu, keeps);
    int start = 0;
    if (t % 32 == 0) start = atomicAdd(count, __popc(~kept));
    start = __shfl_sync(0xffffffffu, start, 0);
    if (keeps) out[start + __popc(kept & ((1u << (t & 31)) - 1))] = i;
}
