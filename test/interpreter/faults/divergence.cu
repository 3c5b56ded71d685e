// run: barrier_in_half block=64 args(out=int32[64]:zeros) expect=divergence line 20
// run: barrier_in_part_of_warp block=32 args(out=int32[32]:zeros) expect=divergence line 27
// run: different_barriers_in_branches block=64 args(out=int32[64]:zeros) expect=divergence line 35
// run: different_rounds block=64 args(out=int32[64]:zeros) expect=divergence line 46
// run: early_return block=64 args(out=int32[64]:zeros, n=40) expect=early-exit line 54
// run: early_return_full_block block=64 args(out=int32[64]:zeros, n=64) expect=clean
// run: lock_across_barrier block=64 args(lock=int32[1]:zeros, out=int32[64]:zeros) expect=budget
// run: warp_waits_for_block block=64 args(out=int32[64]:zeros) expect=missing-lanes line 75
// run: grid_sync_one_block_left block=32 grid=3 args(out=int32[96]:zeros) build=verification expect=deadlock line 84
// run: rounds_of_two_loops block=32 args(out=int32[32]:zeros) expect=divergence line 93
// run: a_round_each block=32 args(out=int32[32]:zeros) expect=divergence line 102
// run: leaves_in_other_rounds block=32 args(out=int32[32]:zeros) build=verification expect=clean
// run: again_and_again block=32 args(out=int32[32]:zeros, n=5) expect=clean
//
// Barriers that not all threads reach, or not the same ones.
#include <cooperative_groups.h>

__global__ void barrier_in_half(int* out) {
    if (threadIdx.x < 32) {
        __syncthreads();
    }
    out[threadIdx.x] = 1;
}

__global__ void barrier_in_part_of_warp(int* out) {
    if (threadIdx.x % 3 == 0) {
        __syncthreads();
    }
    out[threadIdx.x] = 1;
}

__global__ void different_barriers_in_branches(int* out) {
    if (threadIdx.x < 32) {
        out[threadIdx.x] = 1;
        __syncthreads();
    } else {
        out[threadIdx.x] = 2;
        __syncthreads();
    }
    out[threadIdx.x] += 1;
}

__global__ void different_rounds(int* out) {
    for (int k = 0; k <= threadIdx.x / 32; k++) {
        out[threadIdx.x] += k;
        __syncthreads();
    }
    out[threadIdx.x] += 1;
}

__global__ void early_return(int* out, int n) {
    if (threadIdx.x >= n) return;
    out[threadIdx.x] = 1;
    __syncthreads();
    out[threadIdx.x] += 1;
}

__global__ void early_return_full_block(int* out, int n) {
    if (threadIdx.x >= n) return;
    out[threadIdx.x] = 1;
    __syncthreads();
    out[threadIdx.x] += 1;
}

// Whoever holds the lock waits at the barrier for those that want it.
__global__ void lock_across_barrier(int* lock, int* out) {
    while (atomicCAS(lock, 0, 1) != 0) {}
    out[threadIdx.x] = 1;
    __syncthreads();
    atomicExch(lock, 0);
}

__global__ void warp_waits_for_block(int* out) {
    if (threadIdx.x < 8) {
        __syncwarp();
    } else {
        __syncthreads();
    }
    out[threadIdx.x] = 1;
}

__global__ void grid_sync_one_block_left(int* out) {
    if (blockIdx.x == 1) return;
    cooperative_groups::this_grid().sync();
    out[blockIdx.x * 32 + threadIdx.x] = 1;
}

// All threads reach the barrier four times, but not in the same iterations of the two loops.
__global__ void rounds_of_two_loops(int* out) {
    int t = threadIdx.x, x = t == 0 ? 4 : 1, y = t == 0 ? 1 : 4;
    for (int i = 0; i < x; i++)
        for (int j = 0; j < y; j++) {
            __syncthreads();
            out[t] += i + j;
        }
}

// Each thread reaches the barrier once, in a different iteration.
__global__ void a_round_each(int* out) {
    for (int i = 0; i < 32; i++)
        if (i == threadIdx.x) {
            __syncthreads();
            out[i] = i;
        }
}

// The threads exit the loop in different iterations, and reconverge after it.
__global__ void leaves_in_other_rounds(int* out) {
    int t = threadIdx.x;
    for (int i = 0; i < 40; i++) {
        if (i == 0) __syncthreads();
        out[t] += i;
        if (i > t) break;
    }
    __syncthreads();
    out[t] += 1;
}

// How often the inner loop is repeated differs between threads; the barrier is in the outer one.
__global__ void again_and_again(int* out, int n) {
    int t = threadIdx.x;
    for (int i = 0; i < n; i++) {
        for (int j = 0; j < t; j++) out[t] += j;
        __syncthreads();
    }
}
