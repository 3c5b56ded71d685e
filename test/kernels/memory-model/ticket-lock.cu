// expect: volatile_turn race=proved divergence=proved
// expect: acquire_and_release race=proved divergence=proved
// expect: turn_by_addition race=proved divergence=proved
// expect: by_rank race=proved divergence=proved
// expect: no_fence_behind_wait race=race divergence=proved finding race/global lines 80,80
// expect: no_fence_before_turn race=race divergence=proved finding race/global lines 89,89
// expect: waits_for_older race=race divergence=proved finding race/global lines 99,99
//
// expect: plain_turn race=race divergence=proved finding race/global lines 24,112 finding race/global lines 112,112
// expect: shared_ticket race=race divergence=proved finding race/global lines 122,122
//
//
// A ticket lock: each thread takes a ticket and waits until its predecessor serves it. The serving counter is a flag
// with distinct values, so each holder is ordered before the next.

__device__ int acquire_load(int* p) {
    int value;
    asm volatile("ld.acquire.gpu.b32 %0, [%1];" : "=r"(value) : "l"(p) : "memory");
    return value;
}

__device__ int relaxed_load(int* p) {
    int value;
    asm volatile("ld.relaxed.gpu.b32 %0, [%1];" : "=r"(value) : "l"(p) : "memory");
    return value;
}

__device__ void release_store(int* p, int value) {
    asm volatile("st.release.gpu.b32 [%0], %1;" ::"l"(p), "r"(value) : "memory");
}

__device__ void relaxed_store(int* p, int value) {
    asm volatile("st.relaxed.gpu.b32 [%0], %1;" ::"l"(p), "r"(value) : "memory");
}

// selvage: assume(next[*] in 0..0) assume(turn[*] in 0..0)
__global__ void volatile_turn(int* next, volatile int* turn, int* sum) {
    int mine = atomicAdd(next, 1);
    while (*turn != mine) {
    }
    __threadfence();
    *sum += threadIdx.x;
    __threadfence();
    *turn = mine + 1;
}

// selvage: assume(next[*] in 0..0) assume(turn[*] in 0..0)
__global__ void acquire_and_release(int* next, int* turn, int* sum) {
    int mine = atomicAdd(next, 1);
    while (acquire_load(turn) != mine) {
    }
    *sum += threadIdx.x;
    release_store(turn, mine + 1);
}

// selvage: assume(next[*] in 0..0) assume(turn[*] in 0..0)
__global__ void turn_by_addition(int* next, int* turn, int* sum) {
    int mine = atomicAdd(next, 1);
    while (acquire_load(turn) != mine) {
    }
    *sum += threadIdx.x;
    __threadfence();
    atomicAdd(turn, 1);
}

// The blocks go in the order of their numbers.
// selvage: block=1 assume(turn[*] in 0..0)
__global__ void by_rank(int* turn, int* sum) {
    while (acquire_load(turn) != blockIdx.x) {
    }
    *sum += 1;
    release_store(turn, blockIdx.x + 1);
}

// selvage: block=2 grid=2 assume(next[*] in 0..0) assume(turn[*] in 0..0)
__global__ void no_fence_behind_wait(int* next, int* turn, int* sum) {
    int mine = atomicAdd(next, 1);
    while (relaxed_load(turn) != mine) {
    }
    *sum += threadIdx.x;
    release_store(turn, mine + 1);
}

// selvage: block=2 grid=2 assume(next[*] in 0..0) assume(turn[*] in 0..0)
__global__ void no_fence_before_turn(int* next, int* turn, int* sum) {
    int mine = atomicAdd(next, 1);
    while (acquire_load(turn) != mine) {
    }
    *sum += threadIdx.x;
    relaxed_store(turn, mine + 1);
}

// selvage: block=2 grid=2 assume(next[*] in 0..0) assume(turn[*] in 0..0)
__global__ void waits_for_older(int* next, int* turn, int* sum) {
    int mine = atomicAdd(next, 1);
    // Two may be inside: this one and the one before.
    while (acquire_load(turn) < mine - 1) {
    }
    *sum += threadIdx.x;
    __threadfence();
    atomicAdd(turn, 1);
}

// selvage: block=1 grid=2 assume(next[*] in 0..0) assume(turn[*] in 0..0)
__global__ void plain_turn(int* next, int* turn, int* sum) {
    int mine = atomicAdd(next, 1);
    while (relaxed_load(turn) != mine) {
    }
    __threadfence();
    *sum += threadIdx.x;
    __threadfence();
    *turn = mine + 1;
}

// selvage: block=2 grid=2 assume(next[*] in 0..0) assume(turn[*] in 0..0)
__global__ void shared_ticket(int* next, int* turn, int* sum) {
    // Reading the number and counting it up are two steps.
    int mine = relaxed_load(next);
    atomicAdd(next, 1);
    while (acquire_load(turn) < mine) {
    }
    *sum += threadIdx.x;
    __threadfence();
    atomicAdd(turn, 1);
}
