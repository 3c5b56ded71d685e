// expect: fences race=proved divergence=proved
// expect: acquire_and_release race=proved divergence=proved
// expect: acquire_to_fence race=proved divergence=proved
// expect: fence_to_release race=proved divergence=proved
// expect: released_by_exchange race=proved divergence=proved
// expect: strongest_fences race=proved divergence=proved
// expect: lock_of_the_block race=proved divergence=proved
// expect: lock_per_slot race=proved divergence=proved
//
// A lock that `atom.cas` acquires and a store or an exchange releases, with every strength that orders accesses of its
// holders: an acquire after taking it, a release before giving it back, of a scope that includes all its threads.

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

__device__ void relaxed_give(int* lock) {
    asm volatile("st.relaxed.gpu.b32 [%0], %1;" ::"l"(lock), "r"(0) : "memory");
}

__device__ void release_give(int* lock) {
    asm volatile("st.release.gpu.b32 [%0], %1;" ::"l"(lock), "r"(0) : "memory");
}

__device__ void fence() {
    asm volatile("fence.acq_rel.gpu;" ::: "memory");
}

__global__ void fences(int* lock, int* sum) {
    while (relaxed_take(lock) != 0) {
    }
    fence();
    *sum += threadIdx.x;
    fence();
    relaxed_give(lock);
}

// A releasing store ends the release sequence of the exchanges; the next holder's exchange reads from it.
__global__ void acquire_and_release(int* lock, int* sum) {
    while (acquire_take(lock) != 0) {
    }
    *sum += threadIdx.x;
    release_give(lock);
}

__global__ void acquire_to_fence(int* lock, int* sum) {
    while (acquire_take(lock) != 0) {
    }
    *sum += threadIdx.x;
    fence();
    relaxed_give(lock);
}

__global__ void fence_to_release(int* lock, int* sum) {
    while (relaxed_take(lock) != 0) {
    }
    fence();
    *sum += threadIdx.x;
    release_give(lock);
}

__global__ void released_by_exchange(int* lock, int* sum) {
    int old;
    while (acquire_take(lock) != 0) {
    }
    *sum += threadIdx.x;
    asm volatile("atom.release.gpu.exch.b32 %0, [%1], 0;" : "=r"(old) : "l"(lock) : "memory");
}

__global__ void strongest_fences(int* lock, int* sum) {
    while (relaxed_take(lock) != 0) {
    }
    asm volatile("fence.sc.sys;" ::: "memory");
    *sum += threadIdx.x;
    asm volatile("fence.sc.sys;" ::: "memory");
    relaxed_give(lock);
}

__global__ void lock_of_the_block(int* out) {
    __shared__ int lock, sum;
    if (threadIdx.x == 0) lock = sum = 0;
    __syncthreads();
    while (atomicCAS_block(&lock, 0, 1) != 0) {
    }
    __threadfence_block();
    sum += threadIdx.x;
    __threadfence_block();
    atomicExch_block(&lock, 0);
    __syncthreads();
    if (threadIdx.x == 0) out[blockIdx.x] = sum;
}

__global__ void lock_per_slot(int* locks, int* sums, const int* slots) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int slot = slots[i];
    while (atomicCAS(&locks[slot], 0, 1) != 0) {
    }
    __threadfence();
    sums[slot] += i;
    __threadfence();
    atomicExch(&locks[slot], 0);
}
