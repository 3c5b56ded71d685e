// expect: fences race=proved divergence=proved
// expect: release_to_fence race=proved divergence=proved
// expect: fence_to_acquire race=proved divergence=proved
// expect: release_to_acquire race=proved divergence=proved
// expect: sequential_fences race=proved divergence=proved
// expect: volatile_flag race=proved divergence=proved
// expect: looks_once race=proved divergence=proved
//
// One thread writes data and sets a flag; others wait for the flag and read. Release is a fence before a strong
// store, or a releasing store; acquire is a fence after a strong load, or an acquiring load. All scopes
// include the whole grid, and the flag is initially 0.

__device__ int relaxed_load(int* p) {
    int value;
    asm volatile("ld.relaxed.gpu.b32 %0, [%1];" : "=r"(value) : "l"(p) : "memory");
    return value;
}

__device__ int acquire_load(int* p) {
    int value;
    asm volatile("ld.acquire.gpu.b32 %0, [%1];" : "=r"(value) : "l"(p) : "memory");
    return value;
}

__device__ void relaxed_store(int* p, int value) {
    asm volatile("st.relaxed.gpu.b32 [%0], %1;" ::"l"(p), "r"(value) : "memory");
}

__device__ void release_store(int* p, int value) {
    asm volatile("st.release.gpu.b32 [%0], %1;" ::"l"(p), "r"(value) : "memory");
}

__device__ void fence() {
    asm volatile("fence.acq_rel.gpu;" ::: "memory");
}

__device__ void sequential_fence() {
    asm volatile("fence.sc.gpu;" ::: "memory");
}

// selvage: assume(flag[*] in 0..0)
__global__ void fences(int* flag, int* data, int* out) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i == 0) {
        *data = 42;
        fence();
        relaxed_store(flag, 1);
    } else {
        while (relaxed_load(flag) != 1) {
        }
        fence();
        out[i] = *data;
    }
}

// selvage: assume(flag[*] in 0..0)
__global__ void release_to_fence(int* flag, int* data, int* out) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i == 0) {
        *data = 42;
        release_store(flag, 1);
    } else {
        while (relaxed_load(flag) != 1) {
        }
        fence();
        out[i] = *data;
    }
}

// selvage: assume(flag[*] in 0..0)
__global__ void fence_to_acquire(int* flag, int* data, int* out) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i == 0) {
        *data = 42;
        fence();
        relaxed_store(flag, 1);
    } else {
        while (acquire_load(flag) != 1) {
        }
        out[i] = *data;
    }
}

// selvage: assume(flag[*] in 0..0)
__global__ void release_to_acquire(int* flag, int* data, int* out) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i == 0) {
        *data = 42;
        release_store(flag, 1);
    } else {
        while (acquire_load(flag) != 1) {
        }
        out[i] = *data;
    }
}

// selvage: assume(flag[*] in 0..0)
__global__ void sequential_fences(int* flag, int* data, int* out) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i == 0) {
        *data = 42;
        sequential_fence();
        relaxed_store(flag, 1);
    } else {
        while (relaxed_load(flag) != 1) {
        }
        sequential_fence();
        out[i] = *data;
    }
}

// selvage: assume(flag[*] in 0..0)
__global__ void volatile_flag(volatile int* flag, int* data, int* out) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i == 0) {
        *data = 42;
        __threadfence();
        *flag = 1;
    } else {
        while (*flag != 1) {
        }
        __threadfence();
        out[i] = *data;
    }
}

// Without a loop: a thread that reads 0 from the flag does not access the data.
// selvage: assume(flag[*] in 0..0)
__global__ void looks_once(int* flag, int* data, int* out) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i == 0) {
        *data = 42;
        release_store(flag, 1);
    } else if (acquire_load(flag) == 1) {
        out[i] = *data;
    }
}
