// expect: slots race=proved divergence=proved
// expect: slots_too_few race=race divergence=proved finding race/global lines 31,31
// expect: slots_of_blocks race=race divergence=proved finding race/global lines 43,43
// expect: from_another_lane race=race divergence=proved finding race/global lines 53,53
// expect: half_of_the_warp race=race divergence=proved finding race/global lines 63,63
// expect: rows race=proved divergence=proved
// expect: rows_without_atomics race=race divergence=proved finding race/global lines 85,86 finding race/global lines 86,86
// expect: same_ticket_again race=race divergence=proved finding race/global lines 101,101
// expect: last_lane race=proved divergence=proved
// expect: after_exit race=race divergence=proved finding race/global lines 121,121 finding warp/undefined-value lines 120
// expect: last_lane_of_part race=race divergence=proved finding race/global lines 131,131 finding warp/undefined-value lines 130
//
// One lane takes a number, and a shuffle gives it to its warp.

// selvage: block=128 grid=8
__global__ void slots(const int* in, int* out, int* tail) {
    const int t = threadIdx.x, lane = t % 32;
    int first = 0;
    if (lane == 0) first = atomicAdd(tail, 32);
    first = __shfl_sync(0xffffffffu, first, 0);
    out[first + lane] = in[blockIdx.x * 128 + t];
}

// Two warps share 16 slots.
// selvage: block=128 grid=8
__global__ void slots_too_few(const int* in, int* out, int* tail) {
    const int t = threadIdx.x, lane = t % 32;
    int first = 0;
    if (lane == 0) first = atomicAdd(tail, 16);
    first = __shfl_sync(0xffffffffu, first, 0);
    out[first + lane] = in[blockIdx.x * 128 + t];
}

// Each block counts from 0.
// selvage: block=128 grid=8
__global__ void slots_of_blocks(const int* in, int* out) {
    __shared__ int tail;
    const int t = threadIdx.x, lane = t % 32;
    int first = 0;
    if (t == 0) tail = 0;
    __syncthreads();
    if (lane == 0) first = atomicAdd(&tail, 32);
    first = __shfl_sync(0xffffffffu, first, 0); out[first + lane] = in[blockIdx.x * 128 + t];
}

// Lane 1 has no number.
// selvage: block=128 grid=8
__global__ void from_another_lane(const int* in, int* out, int* tail) {
    const int t = threadIdx.x, lane = t % 32;
    int first = 0;
    if (lane == 0) first = atomicAdd(tail, 32);
    first = __shfl_sync(0xffffffffu, first, 1);
    out[first + lane] = in[blockIdx.x * 128 + t];
}

// Lanes 16 to 31 get the value of lane 16, which has no number.
// selvage: block=128 grid=8
__global__ void half_of_the_warp(const int* in, int* out, int* tail) {
    const int t = threadIdx.x, lane = t % 32;
    int first = 0;
    if (lane == 0) first = atomicAdd(tail, 32);
    first = __shfl_sync(0xffffffffu, first, 0, 16);
    out[first + lane] = in[blockIdx.x * 128 + t];
}

// Warps take rows until all are taken.
// selvage: block=128 grid=8
__global__ void rows(const int* in, int* out, int* next, int n) {
    const int lane = threadIdx.x % 32;
    while (true) {
        int row = 0;
        if (lane == 0) row = atomicAdd(next, 1);
        row = __shfl_sync(0xffffffffu, row, 0);
        if (row >= n) break;
        out[row * 32 + lane] = in[row * 32 + lane] + 1;
    }
}

// selvage: block=128 grid=8 arg(n=64)
__global__ void rows_without_atomics(const int* in, int* out, int* next, int n) {
    const int lane = threadIdx.x % 32;
    while (true) {
        int row = 0;
        if (lane == 0) {
            row = *next;
            *next = row + 1;
        }
        row = __shfl_sync(0xffffffffu, row, 0);
        if (row >= n) break;
        out[row * 32 + lane] = in[row * 32 + lane] + 1;
    }
}

// The lanes move by one in the second iteration, with the ticket of the first.
// selvage: block=128 grid=8
__global__ void same_ticket_again(const int* in, int* out, int* tail) {
    const int t = threadIdx.x, lane = t % 32;
    int first = 0;
    if (lane == 0) first = atomicAdd(tail, 32);
    first = __shfl_sync(0xffffffffu, first, 0);
    for (int i = 0; i < 2; ++i) out[first + (lane + i) % 32] = in[blockIdx.x * 128 + t] + i;
}

// selvage: block=128 grid=8
__global__ void last_lane(const int* in, int* out, int* tail) {
    const int t = threadIdx.x, lane = t % 32;
    int first = 0;
    if (lane == 31) first = atomicAdd(tail, 32);
    first = __shfl_sync(0xffffffffu, first, 31);
    out[first + lane] = in[blockIdx.x * 128 + t];
}

// Lane 0 may have returned.
// selvage: block=128 grid=8
__global__ void after_exit(const int* in, int* out, int* tail) {
    const int t = threadIdx.x, lane = t % 32;
    if (in[blockIdx.x * 128 + t] < 0) return;
    int first = 0;
    if (lane == 0) first = atomicAdd(tail, 32);
    first = __shfl_sync(0xffffffffu, first, 0);
    out[first + lane] = in[blockIdx.x * 128 + t];
}

// The last warp has 24 lanes.
// selvage: block=120 grid=8
__global__ void last_lane_of_part(const int* in, int* out, int* tail) {
    const int t = threadIdx.x, lane = t % 32;
    int first = 0;
    if (lane == 31) first = atomicAdd(tail, 32);
    first = __shfl_sync(0xffffffffu, first, 31);
    out[first + lane] = in[blockIdx.x * 120 + t];
}
