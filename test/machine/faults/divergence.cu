// run: barrier_in_half block=64 args(out=int32[64]:zeros) expect=divergence line 16
// run: barrier_in_part_of_warp block=32 args(out=int32[32]:zeros) expect=divergence line 23
// run: different_barriers_in_branches block=64 args(out=int32[64]:zeros) expect=divergence line 31
// run: different_rounds block=64 args(out=int32[64]:zeros) expect=divergence line 42
// run: early_return block=64 args(out=int32[64]:zeros, n=40) expect=early-exit line 50
// run: early_return_full_block block=64 args(out=int32[64]:zeros, n=64) expect=clean
// run: lock_across_barrier block=64 args(lock=int32[1]:zeros, out=int32[64]:zeros) expect=budget
// run: warp_waits_for_block block=64 args(out=int32[64]:zeros) expect=deadlock line 73
// run: grid_sync_one_block_left block=32 grid=3 args(out=int32[96]:zeros) build=verification expect=deadlock line 80
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
