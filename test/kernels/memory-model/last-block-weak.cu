// expect: no_fence_before_count race=race divergence=proved finding race/global lines 39,43
// expect: no_fence_behind_count race=race divergence=proved finding race/global lines 49,53
// expect: fence_behind_count race=race divergence=proved finding race/global lines 59,64
// expect: fences_of_the_block race=race divergence=proved finding race/global lines 70,75
// expect: count_of_the_block race=race divergence=proved finding race/global lines 81,84 finding race/global lines 22,22
// expect: last_but_one race=race divergence=proved finding race/global lines 90,95
// expect: no_barrier_before_count race=race divergence=proved finding race/global lines 103,112
// expect: no_barrier_behind_count race=race divergence=proved finding race/shared lines 124,125
// expect: plain_count race=race divergence=proved finding race/global lines 136,136 finding race/global lines 135,136 finding race/global lines 133,140
// expect: half_of_all race=race divergence=proved finding race/global lines 33,146
//
// The last block's pattern, each time one strength or one step too weak.

__device__ unsigned relaxed_add(unsigned* p) {
    unsigned old;
    asm volatile("atom.relaxed.gpu.add.u32 %0, [%1], 1;" : "=r"(old) : "l"(p) : "memory");
    return old;
}

__device__ unsigned add_block(unsigned* p) {
    unsigned old;
    asm volatile("atom.acq_rel.cta.add.u32 %0, [%1], 1;" : "=r"(old) : "l"(p) : "memory");
    return old;
}

__device__ void fence() {
    asm volatile("fence.acq_rel.gpu;" ::: "memory");
}

__device__ int sum_of(const int* part, int n) {
    int sum = 0;
    for (int b = 0; b < n; ++b)
        sum += part[b];
    return sum;
}

// selvage: block=1 grid=4 assume(count[*] in 0..0)
__global__ void no_fence_before_count(unsigned* count, int* part, int* total) {
    part[blockIdx.x] = blockIdx.x;
    if (relaxed_add(count) == gridDim.x - 1) {
        fence();
        for (int b = 0; b < gridDim.x; ++b)
            total[b] = part[b];
    }
}

// selvage: block=1 grid=4 assume(count[*] in 0..0)
__global__ void no_fence_behind_count(unsigned* count, int* part, int* total) {
    part[blockIdx.x] = blockIdx.x;
    fence();
    if (relaxed_add(count) == gridDim.x - 1) {
        for (int b = 0; b < gridDim.x; ++b)
            total[b] = part[b];
    }
}

// selvage: block=1 grid=4 assume(count[*] in 0..0)
__global__ void fence_behind_count(unsigned* count, int* part, int* total) {
    part[blockIdx.x] = blockIdx.x;
    bool last = relaxed_add(count) == gridDim.x - 1;
    fence();
    if (last) {
        for (int b = 0; b < gridDim.x; ++b)
            total[b] = part[b];
    }
}

// selvage: block=1 grid=4 assume(count[*] in 0..0)
__global__ void fences_of_the_block(unsigned* count, int* part, int* total) {
    part[blockIdx.x] = blockIdx.x;
    __threadfence_block();
    if (relaxed_add(count) == gridDim.x - 1) {
        __threadfence_block();
        for (int b = 0; b < gridDim.x; ++b)
            total[b] = part[b];
    }
}

// selvage: block=1 grid=4 assume(count[*] in 0..0)
__global__ void count_of_the_block(unsigned* count, int* part, int* total) {
    part[blockIdx.x] = blockIdx.x;
    if (add_block(count) == gridDim.x - 1) {
        for (int b = 0; b < gridDim.x; ++b)
            total[b] = part[b];
    }
}

// selvage: block=1 grid=4 assume(count[*] in 0..0)
__global__ void last_but_one(unsigned* count, int* part, int* total) {
    part[blockIdx.x] = blockIdx.x;
    fence();
    if (relaxed_add(count) == gridDim.x - 2) {
        fence();
        for (int b = 0; b < gridDim.x; ++b)
            total[b] = part[b];
    }
}

// selvage: block=64 grid=4 assume(count[*] in 0..0)
__global__ void no_barrier_before_count(unsigned* count, int* part, int* total) {
    __shared__ bool last;
    int t = threadIdx.x;
    part[blockIdx.x * 64 + t] = t;
    fence();
    // Counts for threads that are not through.
    if (t == 0)
        last = atomicAdd(count, 1u) == gridDim.x - 1;
    __syncthreads();
    if (last) {
        fence();
        for (int b = 0; b < gridDim.x; ++b)
            total[b * 64 + t] = part[b * 64 + t];
    }
}

// selvage: block=64 grid=4 assume(count[*] in 0..0)
__global__ void no_barrier_behind_count(unsigned* count, int* part, int* total) {
    __shared__ bool last;
    int t = threadIdx.x;
    part[blockIdx.x * 64 + t] = t;
    __threadfence();
    __syncthreads();
    if (t == 0)
        last = atomicAdd(count, 1u) == gridDim.x - 1;
    if (last) {
        __threadfence();
        total[t] = blockIdx.x;
    }
}

// selvage: block=1 grid=2 assume(count[*] in 0..0)
__global__ void plain_count(unsigned* count, int* part, int* total) {
    part[blockIdx.x] = blockIdx.x;
    fence();
    unsigned old = *count;
    *count = old + 1;
    if (old == gridDim.x - 1) {
        fence();
        for (int b = 0; b < gridDim.x; ++b)
            total[b] = part[b];
    }
}

// selvage: block=1 grid=4 assume(count[*] in 0..0)
__global__ void half_of_all(unsigned* count, int* part, int* total) {
    part[blockIdx.x] = blockIdx.x;
    fence();
    if (2 * relaxed_add(count) >= gridDim.x) {
        fence();
        int sum = sum_of(part, gridDim.x);
        total[blockIdx.x] = sum;
    }
}
