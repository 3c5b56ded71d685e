// expect: no_fence_behind_taking race=race divergence=proved finding race/global lines 56,56
// expect: no_fence_before_giving race=race divergence=proved finding race/global lines 64,64
// expect: fences_outside race=race divergence=proved finding race/global lines 73,73
// expect: scopes_of_the_block race=race divergence=proved finding race/global lines 82,82 finding race/global lines 32,45 finding race/global lines 32,32 finding race/global lines 45,45
// expect: plain_store_gives race=race divergence=proved finding race/global lines 88,93 finding race/global lines 93,93 finding race/global lines 91,91
// expect: two_locks race=race divergence=proved finding race/global lines 101,106
// expect: some_take_it race=race divergence=proved finding race/global lines 116,119
// expect: tries_and_goes_on race=race divergence=proved finding race/global lines 129,129
//
// expect: wrong_slot race=race divergence=proved finding race/global lines 139,139
// expect: reads_before_taking race=race divergence=proved finding race/global lines 145,148
// expect: given_twice race=race divergence=proved finding race/global lines 156,156
//
//
// Locks that do not protect: one strength too weak, the fence on the wrong side, a scope that does not reach, and the
// slips that leave some thread inside without the lock.

__device__ int relaxed_take(int* lock) {
    int old;
    asm volatile("atom.relaxed.gpu.cas.b32 %0, [%1], 0, 1;" : "=r"(old) : "l"(lock) : "memory");
    return old;
}

__device__ int acquire_take(int* lock) {
    int old;
    asm volatile("atom.acquire.gpu.cas.b32 %0, [%1], 0, 1;" : "=r"(old) : "l"(lock) : "memory");
    return old;
}

__device__ int acquire_take_block(int* lock) {
    int old;
    asm volatile("atom.acquire.cta.cas.b32 %0, [%1], 0, 1;" : "=r"(old) : "l"(lock) : "memory");
    return old;
}

__device__ void relaxed_give(int* lock) {
    asm volatile("st.relaxed.gpu.b32 [%0], %1;" ::"l"(lock), "r"(0) : "memory");
}

__device__ void release_give(int* lock) {
    asm volatile("st.release.gpu.b32 [%0], %1;" ::"l"(lock), "r"(0) : "memory");
}

__device__ void release_give_block(int* lock) {
    asm volatile("st.release.cta.b32 [%0], %1;" ::"l"(lock), "r"(0) : "memory");
}

__device__ void fence() {
    asm volatile("fence.acq_rel.gpu;" ::: "memory");
}

// selvage: block=2 grid=2
__global__ void no_fence_behind_taking(int* lock, int* sum) {
    while (relaxed_take(lock) != 0) {
    }
    *sum += threadIdx.x;
    release_give(lock);
}

// selvage: block=2 grid=2
__global__ void no_fence_before_giving(int* lock, int* sum) {
    while (acquire_take(lock) != 0) {
    }
    *sum += threadIdx.x;
    relaxed_give(lock);
}

// selvage: block=2 grid=2
__global__ void fences_outside(int* lock, int* sum) {
    fence();
    while (relaxed_take(lock) != 0) {
    }
    *sum += threadIdx.x;
    relaxed_give(lock);
    fence();
}

// selvage: block=1 grid=4
__global__ void scopes_of_the_block(int* lock, int* sum) {
    while (acquire_take_block(lock) != 0) {
    }
    *sum += threadIdx.x;
    release_give_block(lock);
}

// selvage: block=2 grid=2
__global__ void plain_store_gives(int* lock, int* sum) {
    while (atomicCAS(lock, 0, 1) != 0) {
    }
    fence();
    *sum += threadIdx.x;
    fence();
    *lock = 0;
}

// selvage: block=2 grid=1
__global__ void two_locks(int* lock, int* sum) {
    if (threadIdx.x == 0) {
        while (acquire_take(&lock[0]) != 0) {
        }
        *sum += 1;
        release_give(&lock[0]);
    } else {
        while (acquire_take(&lock[1]) != 0) {
        }
        *sum += 2;
        release_give(&lock[1]);
    }
}

// selvage: block=2 grid=1
__global__ void some_take_it(int* lock, int* sum) {
    if (threadIdx.x == 0) {
        while (acquire_take(lock) != 0) {
        }
        *sum += 1;
        release_give(lock);
    } else {
        *sum = 7;
    }
}

// selvage: block=4 grid=1
__global__ void tries_and_goes_on(int* lock, int* sum) {
    int tries = 0;
    // Gives up after two tries, and then does not have it.
    while (acquire_take(lock) != 0 && ++tries < 2) {
    }
    *sum += threadIdx.x;
    release_give(lock);
}

// selvage: block=4 grid=1
__global__ void wrong_slot(int* lock, int* sum) {
    int t = threadIdx.x;
    while (acquire_take(&lock[t & 1]) != 0) {
    }
    // Neighbours hold different locks.
    sum[t / 2] += t;
    release_give(&lock[t & 1]);
}

// selvage: block=4 grid=1
__global__ void reads_before_taking(int* lock, int* sum) {
    int old = *sum;
    while (acquire_take(lock) != 0) {
    }
    *sum = old + 1;
    release_give(lock);
}

// selvage: block=4 grid=1
__global__ void given_twice(int* lock, int* sum) {
    while (acquire_take(lock) != 0) {
    }
    *sum += threadIdx.x;
    release_give(lock);
    // Takes it from whoever has it now.
    release_give(lock);
}
