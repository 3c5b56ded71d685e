// expect: in_shared_memory race=proved divergence=proved
// expect: in_shared_memory_relaxed race=race divergence=proved finding race/shared lines 56,62
// expect: scope_of_the_block race=proved divergence=proved
// expect: barriers_around race=proved divergence=proved
// expect: barriers_around_late race=race divergence=proved finding race/global lines 106,120
// expect: rounds race=proved divergence=proved
// open: rounds race=possible divergence=proved (flags that count rounds are not followed yet)
//
// Flags between threads of one block, for which block scope suffices, and flags that publish the writes of a whole
// block.

__device__ int relaxed_load(int* p) {
    int value;
    asm volatile("ld.relaxed.cta.b32 %0, [%1];" : "=r"(value) : "l"(p) : "memory");
    return value;
}

__device__ int acquire_load(int* p) {
    int value;
    asm volatile("ld.acquire.cta.b32 %0, [%1];" : "=r"(value) : "l"(p) : "memory");
    return value;
}

__device__ void relaxed_store(int* p, int value) {
    asm volatile("st.relaxed.cta.b32 [%0], %1;" ::"l"(p), "r"(value) : "memory");
}

__device__ void release_store(int* p, int value) {
    asm volatile("st.release.cta.b32 [%0], %1;" ::"l"(p), "r"(value) : "memory");
}

// selvage: block=64
__global__ void in_shared_memory(int* out) {
    __shared__ int flag, data;
    int t = threadIdx.x;
    if (t == 0) flag = 0;
    __syncthreads();
    if (t == 32) {
        data = blockIdx.x;
        release_store(&flag, 1);
    }
    if (t == 0) {
        while (acquire_load(&flag) == 0) {
        }
        out[blockIdx.x] = data;
    }
}

// selvage: block=64 grid=2
__global__ void in_shared_memory_relaxed(int* out) {
    __shared__ int flag, data;
    int t = threadIdx.x;
    if (t == 0) flag = 0;
    __syncthreads();
    if (t == 32) {
        data = blockIdx.x;
        relaxed_store(&flag, 1);
    }
    if (t == 0) {
        while (relaxed_load(&flag) == 0) {
        }
        out[blockIdx.x] = data;
    }
}

// selvage: grid=1 assume(flag[*] in 0..0)
__global__ void scope_of_the_block(int* flag, int* data) {
    if (threadIdx.x == 0) {
        data[0] = 42;
        __threadfence_block();
        relaxed_store(flag, 1);
    } else {
        while (relaxed_load(flag) == 0) {
        }
        __threadfence_block();
        data[threadIdx.x] = data[0];
    }
}

// All threads of block 0 write, one raises the flag; one of each other block waits, and then all read.
// selvage: assume(flag[*] in 0..0)
__global__ void barriers_around(volatile int* flag, int* data, int* out) {
    int t = threadIdx.x;
    if (blockIdx.x == 0) {
        data[t] = t;
        __syncthreads();
        if (t == 0) {
            __threadfence();
            *flag = 1;
        }
    } else {
        if (t == 0) {
            while (*flag == 0) {
            }
            __threadfence();
        }
        __syncthreads();
        out[blockIdx.x * blockDim.x + t] = data[blockDim.x - 1 - t];
    }
}

// selvage: block=64 grid=2 assume(flag[*] in 0..0)
__global__ void barriers_around_late(volatile int* flag, int* data, int* out) {
    int t = threadIdx.x;
    if (blockIdx.x == 0) {
        data[t] = t;
        // Thread 0 raises the flag before the others are through.
        if (t == 0) {
            __threadfence();
            *flag = 1;
        }
        __syncthreads();
    } else {
        if (t == 0) {
            while (*flag == 0) {
            }
            __threadfence();
        }
        __syncthreads();
        out[t] = data[63 - t];
    }
}

// The flag counts iterations, and the reader answers with a separate flag: neither overtakes the other.
// selvage: block=2 grid=1 assume(full[*] in 0..0) assume(taken[*] in 0..0)
__global__ void rounds(int* full, int* taken, int* slot, int* out, int n) {
    if (threadIdx.x == 0) {
        for (int k = 1; k <= n; ++k) {
            *slot = k * k;
            release_store(full, k);
            while (acquire_load(taken) != k) {
            }
        }
    } else {
        for (int k = 1; k <= n; ++k) {
            while (acquire_load(full) != k) {
            }
            out[k] = *slot;
            release_store(taken, k);
        }
    }
}
