// expect: halves race=proved divergence=proved
// expect: handed_on race=proved divergence=proved
// expect: handed_on_each_round race=proved divergence=proved
// expect: whole_block_by_name race=proved divergence=proved
// expect: chain_of_warps race=proved divergence=proved
// open: chain_of_warps race=possible divergence=proved (what one barrier orders and another hands on is not followed)
// expect: waiting_on_both_ways race=proved divergence=proved
// expect: part_of_three race=proved divergence=proved
//
// Barriers of part of a block: `bar.sync NAME, COUNT` and `bar.arrive NAME, COUNT`.

__device__ void sync_part_1(int) { asm volatile("bar.sync 1, 64;" ::: "memory"); }

// Each half adds up its own numbers.
// selvage: block=128
__global__ void halves(const int* in, int* out, int n) {
    __shared__ int s[128];
    const int t = threadIdx.x, rank = t % 64;
    for (int k = 0; k < n; k++) {
        s[t] = in[k * 128 + t];
        for (int d = 32; d > 0; d /= 2) {
            if (t < 64) asm volatile("bar.sync 1, 64;" ::: "memory");
            else asm volatile("bar.sync 2, 64;" ::: "memory");
            if (rank < d) s[t] += s[t + d];
        }
        if (rank == 0) out[(blockIdx.x * n + k) * 2 + t / 64] = s[t];
        if (t < 64) asm volatile("bar.sync 1, 64;" ::: "memory");
        else asm volatile("bar.sync 2, 64;" ::: "memory");
    }
}

// selvage: block=128
__global__ void handed_on(const int* in, int* out) {
    __shared__ int s[64];
    const int t = threadIdx.x;
    if (t < 64) {
        s[t] = in[t];
        asm volatile("bar.arrive 1, 128;" ::: "memory");
    } else {
        asm volatile("bar.sync 1, 128;" ::: "memory");
        out[blockIdx.x * 64 + t - 64] = s[127 - t];
    }
}

// selvage: block=128
__global__ void handed_on_each_round(const int* in, int* out, int n) {
    __shared__ int s[64];
    const int t = threadIdx.x;
    for (int k = 0; k < n; k++) {
        if (t >= 64) {
            asm volatile("bar.sync 3, 128;" ::: "memory");
            out[(blockIdx.x * n + k) * 64 + t - 64] = s[127 - t];
        } else {
            s[t] = in[k * 64 + t];
            asm volatile("bar.arrive 3, 128;" ::: "memory");
        }
        __syncthreads();
    }
}

// selvage: block=64
__global__ void whole_block_by_name(int* out, int n) {
    __shared__ int s[64];
    const int t = threadIdx.x;
    s[t] = n;
    asm volatile("bar.sync 1, 64;" ::: "memory");
    out[blockIdx.x * 64 + t] = s[63 - t];
    asm volatile("bar.sync 2;" ::: "memory");
    s[t] = n + 1;
    __syncthreads();
    out[blockIdx.x * 64 + t] += s[63 - t];
}

// The first warp publishes to the second, and that to the third.
// selvage: block=96
__global__ void chain_of_warps(int* out) {
    __shared__ int s[32];
    const int t = threadIdx.x;
    if (t < 32) s[t] = t;
    if (t < 64) asm volatile("bar.sync 1, 64;" ::: "memory");
    if (t >= 32 && t < 64) s[63 - t] += 1;
    if (t >= 32) asm volatile("bar.sync 2, 64;" ::: "memory");
    if (t >= 64) out[blockIdx.x * 32 + t - 64] = s[t - 64];
}

// selvage: block=64
__global__ void waiting_on_both_ways(int* out, int n) {
    __shared__ int s[64];
    const int t = threadIdx.x;
    if (t < 32) {
        s[t] = n;
        asm volatile("bar.sync 1, 64;" ::: "memory");
        out[blockIdx.x * 64 + t] = s[t + 32];
    } else {
        s[t] = n + 1;
        asm volatile("bar.sync 1, 64;" ::: "memory");
        out[blockIdx.x * 64 + t] = s[t - 32];
    }
}

// The last warp has no part in it.
// selvage: block=96
__global__ void part_of_three(const int* in, int* out, int n) {
    __shared__ int s[64];
    const int t = threadIdx.x;
    if (t < 64) {
        for (int k = 0; k < n; k++) {
            s[t] = in[k * 64 + t];
            sync_part_1(k);
            out[(blockIdx.x * n + k) * 64 + t] = s[63 - t];
            sync_part_1(k);
        }
    }
}
