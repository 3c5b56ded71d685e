// run: two_halves block=128 args(out=int32[128]:zeros) expect=clean
// run: two_halves_crossed block=128 args(out=int32[128]:zeros) expect=race lines 28,30 space shared
// run: producer_consumer block=64 args(out=int32[128]:zeros) expect=clean
// run: producer_arrives_early block=64 args(out=int32[32]:zeros) expect=race lines 55,58 space shared
// run: buffer_reused block=64 args(out=int32[128]:zeros) expect=race lines 68,72 space shared
// run: count_too_high block=96 args(out=int32[96]:zeros) expect=partial-arrival line 14
// run: count_of_all block=64 args(out=int32[64]:zeros) expect=clean
// run: arrived_and_gone block=64 args(out=int32[64]:zeros) expect=clean
// run: different_barriers block=64 args(out=int32[64]:zeros) expect=deadlock line 14
// run: lanes_of_a_warp_apart block=64 args(out=int32[64]:zeros) expect=divergence line 14
//
// Barriers with a number and a count of threads, by inline assembly.

__device__ void sync(int barrier, int threads) { asm volatile("bar.sync %0, %1;" ::"r"(barrier), "r"(threads) : "memory"); }
__device__ void arrive(int barrier, int threads) { asm volatile("bar.arrive %0, %1;" ::"r"(barrier), "r"(threads) : "memory"); }

__global__ void two_halves(int* out) {
    __shared__ int s[128];
    const int t = threadIdx.x;
    s[t] = t;
    sync(1 + t / 64, 64);
    out[t] = s[t ^ 63];
}

__global__ void two_halves_crossed(int* out) {
    __shared__ int s[128];
    const int t = threadIdx.x;
    s[t] = t;
    sync(1 + t / 64, 64);
    out[t] = s[t ^ 127];
}

// Barrier 1: the buffer is full; barrier 2: it is empty.
__global__ void producer_consumer(int* out) {
    __shared__ int s[32];
    const int lane = threadIdx.x & 31;
    for (int round = 0; round < 4; round++) {
        if (threadIdx.x < 32) {
            if (round > 0) sync(2, 64);
            s[lane] = round * 100 + lane;
            arrive(1, 64);
        } else {
            sync(1, 64);
            out[round * 32 + lane] = s[31 - lane];
            if (round < 3) arrive(2, 64);
        }
    }
}

__global__ void producer_arrives_early(int* out) {
    __shared__ int s[32];
    const int lane = threadIdx.x & 31;
    if (threadIdx.x < 32) {
        arrive(1, 64);
        s[lane] = lane;
    } else {
        sync(1, 64);
        out[lane] = s[31 - lane];
    }
}

// The producer is not notified that the buffer is empty.
__global__ void buffer_reused(int* out) {
    __shared__ int s[32];
    const int lane = threadIdx.x & 31;
    for (int round = 0; round < 4; round++) {
        if (threadIdx.x < 32) {
            s[lane] = round * 100 + lane;
            sync(1, 64);
        } else {
            sync(1, 64);
            out[round * 32 + lane] = s[31 - lane];
        }
    }
}

__global__ void count_too_high(int* out) {
    if (threadIdx.x < 32) sync(1, 64);
    out[threadIdx.x] = 1;
}

__global__ void count_of_all(int* out) {
    __shared__ int s[64];
    s[threadIdx.x] = threadIdx.x;
    sync(3, 64);
    out[threadIdx.x] = s[63 - threadIdx.x];
}

__global__ void different_barriers(int* out) {
    if (threadIdx.x < 32) {
        sync(1, 64);
    } else {
        sync(2, 64);
    }
    out[threadIdx.x] = 1;
}

// The two halves of each warp synchronize at the barrier, but by two instructions.
__global__ void lanes_of_a_warp_apart(int* out) {
    if (threadIdx.x & 16) {
        out[threadIdx.x] = 1;
        sync(1, 64);
    } else {
        sync(1, 64);
        out[threadIdx.x] = 2;
    }
}

// Threads that need longer each: the first have arrived and exited while others of their warp are yet to come.
__global__ void arrived_and_gone(int* out) {
    __shared__ int s[32];
    const int t = threadIdx.x;
    int sum = 0;
    for (int i = 0; i < 40 * t; i++) sum += *(volatile int*)&out[t];
    if (t < 32) {
        s[t] = sum + t;
        arrive(3, 64);
    } else {
        sync(3, 64);
        out[t] = s[t - 32];
    }
}
