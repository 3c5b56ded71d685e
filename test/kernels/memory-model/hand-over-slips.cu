// expect: leader_has_left race=race divergence=proved finding race/global lines 24,37 finding barrier/early-exit lines 36
// open: leader_has_left race=race divergence=possible finding race/global lines 24,37 finding barrier/divergent lines 36 (whether thread 0 has returned is not followed)
// expect: leader_looks_once race=race divergence=proved finding race/global lines 45,56 finding barrier/early-exit lines 55
// open: leader_looks_once race=race divergence=possible finding race/global lines 45,56 finding barrier/divergent lines 55 (whether thread 0 has returned is not followed)
// expect: two_blocks_set_it race=race divergence=proved finding race/global lines 64,73
// expect: set_too_early race=race divergence=proved finding race/global lines 83,90
// expect: counts_twice race=race divergence=proved finding race/global lines 97,101
// expect: counts_others race=race divergence=proved finding race/global lines 109,113
// expect: told_otherwise race=race divergence=proved finding race/global lines 122,130
// expect: waits_for_itself race=race divergence=proved finding race/global lines 136,142
// expect: serves_before_it_is_done race=race divergence=proved finding race/global lines 153,153
// expect: number_of_another race=race divergence=proved finding race/global lines 164,164
// expect: room_for_a_block race=proved divergence=proved
// expect: room_for_too_few race=race divergence=proved finding race/global lines 181,181
//
// Broken message passing: the thread that should have waited has exited, several threads set one flag, a
// counter counts other threads than the expected ones, a ticket is served too early.

// Thread 0 of some blocks returns without having waited; the others pass the barrier all the same.
// selvage: block=32 grid=2 assume(go[*] in 1..1)
__global__ void leader_has_left(const int* go, int* flag, int* data, int* out) {
    if (blockIdx.x == 0) {
        if (threadIdx.x == 0) {
            *data = 1;
            __threadfence();
            atomicExch(flag, 1);
        }
        return;
    }
    if (threadIdx.x == 0) {
        if (go[blockIdx.x]) return;
        while (atomicAdd(flag, 0) == 0) {
        }
        __threadfence();
    }
    __syncthreads();
    out[threadIdx.x] = *data;
}

// It looks once, and returns where the flag is down.
// selvage: block=32 grid=2
__global__ void leader_looks_once(int* flag, int* data, int* out) {
    if (blockIdx.x == 1) {
        if (threadIdx.x == 0) {
            *data = 1;
            __threadfence();
            atomicExch(flag, 1);
        }
        return;
    }
    if (threadIdx.x == 0) {
        if (atomicAdd(flag, 0) == 0) return;
        __threadfence();
    }
    __syncthreads();
    out[threadIdx.x] = *data;
}

// The flag of the first thread to set it orders nothing about the second.
// selvage: block=2 grid=3
__global__ void two_blocks_set_it(int* flag, int* data, int* out) {
    if (blockIdx.x != 1) {
        if (threadIdx.x == 0) {
            data[blockIdx.x] = 1;
            __threadfence();
            atomicExch(flag, 1);
        }
        return;
    }
    while (atomicAdd(flag, 0) == 0) {
    }
    __threadfence();
    out[threadIdx.x] = data[0] + data[2];
}

// selvage: block=2 grid=2
__global__ void set_too_early(int* flag, int* data, int* out) {
    if (blockIdx.x == 0) {
        if (threadIdx.x == 0) {
            data[0] = 1;
            __threadfence();
            atomicExch(flag, 1);
            data[1] = 2;
        }
        return;
    }
    while (atomicAdd(flag, 0) == 0) {
    }
    __threadfence();
    out[threadIdx.x] = data[1];
}

// Each block counts twice: half of it may be missing.
// selvage: block=1 grid=2
__global__ void counts_twice(unsigned* count, int* part, int* total) {
    for (int k = 0; k < 2; ++k) {
        part[2 * blockIdx.x + k] = k;
        __threadfence();
        if (atomicAdd(count, 1u) == gridDim.x - 1) {
            __threadfence();
            *total = part[1] + part[3];
        }
    }
}

// Threads count, blocks are expected.
// selvage: block=2 grid=2
__global__ void counts_others(unsigned* count, int* part, int* total) {
    part[2 * blockIdx.x + threadIdx.x] = 1;
    __threadfence();
    if (atomicAdd(count, 1u) == gridDim.x - 1) {
        __threadfence();
        *total = part[0] + part[1] + part[2] + part[3];
    }
}

// Another thread overwrites the message of thread 0.
// selvage: block=2 grid=2
__global__ void told_otherwise(unsigned* count, int* part, int* out) {
    __shared__ bool last;
    if (threadIdx.x == 0) {
        part[blockIdx.x] = 1;
        __threadfence();
        last = atomicAdd(count, 1u) == gridDim.x - 1;
        __threadfence();
    }
    __syncthreads();
    if (threadIdx.x == 1) last = true;
    __syncthreads();
    if (last && threadIdx.x == 1) out[blockIdx.x] = part[1 - blockIdx.x];
}

// It waits for its own flag.
// selvage: block=1 grid=2
__global__ void waits_for_itself(int* flag, int* sum) {
    sum[blockIdx.x] = 1;
    __threadfence();
    atomicExch(&flag[blockIdx.x], 1);
    while (atomicAdd(&flag[blockIdx.x], 0) == 0) {
    }
    __threadfence();
    if (blockIdx.x == 1) sum[0] += 1;
}

// selvage: block=2 grid=2
__global__ void serves_before_it_is_done(int* next, int* turn, int* sum) {
    if (threadIdx.x == 0) {
        int mine = atomicAdd(next, 1);
        while (atomicAdd(turn, 0) != mine) {
        }
        __threadfence();
        atomicAdd(turn, 1);
        *sum += 1;
    }
}

// Each thread takes a ticket; thread 0 publishes its ticket to all threads, which all write there.
// selvage: block=2 grid=2
__global__ void number_of_another(unsigned* next, int* out) {
    __shared__ unsigned told;
    unsigned mine = atomicAdd(next, 1u);
    if (threadIdx.x == 0) told = mine;
    __syncthreads();
    out[told] = threadIdx.x;
}

// One ticket for a block, and a separate element for each of its threads.
__global__ void room_for_a_block(unsigned* next, int* out) {
    __shared__ unsigned start;
    if (threadIdx.x == 0) start = atomicAdd(next, 1024u);
    __syncthreads();
    out[start + threadIdx.x] = threadIdx.x;
}

// Room for fewer than there are.
// selvage: block=64 grid=2
__global__ void room_for_too_few(unsigned* next, int* out) {
    __shared__ unsigned start;
    if (threadIdx.x == 0) start = atomicAdd(next, 32u);
    __syncthreads();
    out[start + threadIdx.x] = threadIdx.x;
}
