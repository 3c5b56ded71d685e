// expect: no_fence_before_store race=race divergence=proved finding race/global lines 59,64
// expect: no_fence_behind_load race=race divergence=proved finding race/global lines 71,76
// expect: fence_behind_store race=race divergence=proved finding race/global lines 83,89
// expect: fence_before_load race=race divergence=proved finding race/global lines 96,102
// expect: fence_of_the_block race=race divergence=proved finding race/global lines 109,116
// expect: flag_of_the_block race=race divergence=proved finding race/global lines 123,128 finding race/global lines 30,49
// expect: weak_flag race=race divergence=proved finding race/global lines 36,53 finding race/global lines 135,142
// expect: weak_flag_sequential_fences race=race divergence=proved finding race/global lines 36,53
// expect: waits_for_nothing race=race divergence=proved finding race/global lines 164,170
// expect: flag_is_up race=race divergence=proved finding race/global lines 178,183
//
// Message passing with a flag, each time one strength too weak: without a fence on one side, with the fence on the
// wrong side of the flag, with a scope that does not reach the other block, and with a weak access as the flag.
// Weak accesses of a flag race with each other regardless of fences (PTX ISA 8.7.1), and synchronise nothing.

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

__device__ int acquire_load_block(int* p) {
    int value;
    asm volatile("ld.acquire.cta.b32 %0, [%1];" : "=r"(value) : "l"(p) : "memory");
    return value;
}

__device__ int weak_load(int* p) {
    int value;
    asm volatile("ld.weak.b32 %0, [%1];" : "=r"(value) : "l"(p) : "memory");
    return value;
}

__device__ void relaxed_store(int* p, int value) {
    asm volatile("st.relaxed.gpu.b32 [%0], %1;" ::"l"(p), "r"(value) : "memory");
}

__device__ void release_store(int* p, int value) {
    asm volatile("st.release.gpu.b32 [%0], %1;" ::"l"(p), "r"(value) : "memory");
}

__device__ void release_store_block(int* p, int value) {
    asm volatile("st.release.cta.b32 [%0], %1;" ::"l"(p), "r"(value) : "memory");
}

__device__ void weak_store(int* p, int value) {
    asm volatile("st.weak.b32 [%0], %1;" ::"l"(p), "r"(value) : "memory");
}

// selvage: block=1 grid=2 assume(flag[*] in 0..0)
__global__ void no_fence_before_store(int* flag, int* data, int* out) {
    if (blockIdx.x == 0) {
        *data = 42;
        relaxed_store(flag, 1);
    } else {
        while (acquire_load(flag) != 1) {
        }
        *out = *data;
    }
}

// selvage: block=1 grid=2 assume(flag[*] in 0..0)
__global__ void no_fence_behind_load(int* flag, int* data, int* out) {
    if (blockIdx.x == 0) {
        *data = 42;
        release_store(flag, 1);
    } else {
        while (relaxed_load(flag) != 1) {
        }
        *out = *data;
    }
}

// selvage: block=1 grid=2 assume(flag[*] in 0..0)
__global__ void fence_behind_store(int* flag, int* data, int* out) {
    if (blockIdx.x == 0) {
        *data = 42;
        relaxed_store(flag, 1);
        __threadfence();
    } else {
        while (acquire_load(flag) != 1) {
        }
        *out = *data;
    }
}

// selvage: block=1 grid=2 assume(flag[*] in 0..0)
__global__ void fence_before_load(int* flag, int* data, int* out) {
    if (blockIdx.x == 0) {
        *data = 42;
        release_store(flag, 1);
    } else {
        __threadfence();
        while (relaxed_load(flag) != 1) {
        }
        *out = *data;
    }
}

// selvage: block=1 grid=2 assume(flag[*] in 0..0)
__global__ void fence_of_the_block(int* flag, int* data, int* out) {
    if (blockIdx.x == 0) {
        *data = 42;
        __threadfence_block();
        relaxed_store(flag, 1);
    } else {
        while (relaxed_load(flag) != 1) {
        }
        __threadfence_block();
        *out = *data;
    }
}

// selvage: block=1 grid=2 assume(flag[*] in 0..0)
__global__ void flag_of_the_block(int* flag, int* data, int* out) {
    if (blockIdx.x == 0) {
        *data = 42;
        release_store_block(flag, 1);
    } else {
        while (acquire_load_block(flag) != 1) {
        }
        *out = *data;
    }
}

// selvage: block=1 grid=2 assume(flag[*] in 0..0)
__global__ void weak_flag(int* flag, int* data, int* out) {
    if (blockIdx.x == 0) {
        *data = 42;
        asm volatile("fence.acq_rel.gpu;" ::: "memory");
        weak_store(flag, 1);
    } else {
        while (weak_load(flag) != 1) {
        }
        asm volatile("fence.acq_rel.gpu;" ::: "memory");
        *out = *data;
    }
}

// Fences of the strongest kind: which of the two comes first may order the data, but the flag itself races.
// selvage: block=1 grid=2 assume(flag[*] in 0..0)
__global__ void weak_flag_sequential_fences(int* flag, int* data, int* out) {
    if (blockIdx.x == 0) {
        *data = 42;
        asm volatile("fence.sc.gpu;" ::: "memory");
        weak_store(flag, 1);
    } else {
        while (weak_load(flag) != 1) {
        }
        asm volatile("fence.sc.gpu;" ::: "memory");
        *out = *data;
    }
}

// selvage: block=1 grid=2 assume(flag[*] in 0..0)
__global__ void waits_for_nothing(int* flag, int* data, int* out) {
    if (blockIdx.x == 1) {
        *data = 42;
        release_store(flag, 1);
    } else {
        // Leaves at once: the flag is up or down.
        while (acquire_load(flag) == 2) {
        }
        *out = *data;
    }
}

// The flag is up when the kernel starts.
// selvage: block=1 grid=2 assume(flag[*] in 1..1)
__global__ void flag_is_up(int* flag, int* data, int* out) {
    if (blockIdx.x == 0) {
        *data = 42;
        release_store(flag, 1);
    } else {
        while (acquire_load(flag) != 1) {
        }
        *out = *data;
    }
}
