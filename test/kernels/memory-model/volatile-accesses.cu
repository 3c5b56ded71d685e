// expect: exchange race=race divergence=proved finding race/volatile lines 22,23
// expect: exchange_with_barrier race=proved divergence=proved
// expect: poll_of_atomic race=race divergence=proved finding race/volatile lines 38,39
// expect: against_plain race=race divergence=proved finding race/global lines 45,46
// expect: index_read race=race divergence=proved finding race/volatile lines 51,52
// expect: wait_for_flag race=proved divergence=proved
// expect: flag_of_each_block race=proved divergence=proved
// expect: set_by_two race=race divergence=proved finding race/volatile lines 81,82 finding race/volatile lines 82,83 finding race/volatile lines 81,83
// expect: looks_once race=race divergence=proved finding race/volatile lines 91,92
// expect: lock race=proved divergence=proved
// expect: lock_by_exchange race=proved divergence=proved
// expect: released_by_others race=race divergence=proved finding race/volatile lines 117,118 finding race/volatile lines 118,118
// expect: turn_of_blocks race=proved divergence=proved
//
// Two volatile accesses, or a volatile one and an atomic, are a data race in CUDA C++ and none in PTX. Locks that an
// atomic takes and a store releases, turns, and flags that one thread sets and others wait for in a loop, are recognised.

// selvage: block=64 grid=4
__global__ void exchange(unsigned* out) {
    __shared__ volatile unsigned s[64];
    unsigned t = threadIdx.x;
    s[t] = t;
    out[blockIdx.x * 64 + t] = s[63 - t];
}

// selvage: block=64 grid=4
__global__ void exchange_with_barrier(unsigned* out) {
    __shared__ volatile unsigned s[64];
    unsigned t = threadIdx.x;
    s[t] = t;
    __syncthreads();
    out[blockIdx.x * 64 + t] = s[63 - t];
}

// selvage: block=64 grid=4
__global__ void poll_of_atomic(unsigned* count, unsigned* out) {
    unsigned i = blockIdx.x * 64 + threadIdx.x;
    atomicAdd(count, 1u);
    out[i] = *(volatile unsigned*)count;
}

// selvage: block=64 grid=4
__global__ void against_plain(unsigned* a, unsigned* out) {
    unsigned i = blockIdx.x * 64 + threadIdx.x;
    a[i] = i;
    out[i] = *(volatile unsigned*)&a[i + 1];
}

// selvage: block=64 grid=4
__global__ void index_read(volatile unsigned* at, unsigned* out) {
    unsigned first = at[0];
    if (threadIdx.x + blockIdx.x == 0) at[0] = 1;
    out[blockIdx.x * 64 + threadIdx.x] = first;
}

// selvage: assume(flag[*] in 0..0)
__global__ void wait_for_flag(volatile int* flag, int* data, int* out) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i == 0) {
        *data = 42;
        __threadfence();
        *flag = 1;
    } else {
        while (*flag == 0) {
        }
        __threadfence();
        out[i] = *data;
    }
}

// selvage: block=64 grid=4 assume(flags[*] in 0..0)
__global__ void flag_of_each_block(volatile int* flags, int* out) {
    if (threadIdx.x == 0) flags[blockIdx.x] = 1;
    while (flags[(blockIdx.x + 1) % 4] == 0) {
    }
    out[blockIdx.x * 64 + threadIdx.x] = 1;
}

// selvage: block=64 grid=1 assume(flag[*] in 0..0)
__global__ void set_by_two(volatile int* flag, int* out) {
    if (threadIdx.x == 0) *flag = 1;
    if (threadIdx.x == 32) *flag = 2;
    while (*flag == 0) {
    }
    out[threadIdx.x] = 1;
}

// A thread that reads another value of the flag continues.
// selvage: block=64 grid=1 assume(flag[*] in 0..0)
__global__ void looks_once(volatile int* flag, int* out) {
    if (threadIdx.x == 0) *flag = 1;
    if (*flag == 1) out[threadIdx.x] = 1;
}

__global__ void lock(int* taken, int* sum) {
    while (atomicCAS(taken, 0, 1) != 0) {
    }
    __threadfence();
    *sum += threadIdx.x;
    __threadfence();
    *(volatile int*)taken = 0;
}

// A thread whose exchange returns anything but the mark of a taken lock holds it.
__global__ void lock_by_exchange(int* taken, int* sum) {
    while (atomicExch(taken, 1) == 1) {
    }
    __threadfence();
    *sum += threadIdx.x;
    __threadfence();
    *(volatile int*)taken = 0;
}

// Every thread releases the lock, whether it holds it or not.
// selvage: block=64 grid=1
__global__ void released_by_others(int* taken, int* out) {
    if (atomicCAS(taken, 0, 1) == 0) out[threadIdx.x] = 1;
    *(volatile int*)taken = 0;
}

// One block after the other sets a variable, and only the block that it names.
// selvage: block=64 grid=4 assume(turn[*] in 0..0)
__global__ void turn_of_blocks(volatile int* turn, int* sum) {
    if (threadIdx.x == 0) {
        while (*turn != blockIdx.x) {
        }
        __threadfence();
        *sum += 1;
        __threadfence();
        *turn = blockIdx.x + 1;
    }
}
