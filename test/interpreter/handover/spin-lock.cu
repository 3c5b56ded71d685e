// run: lock_fenced block=32 grid=4 args(lock=int32[1]:zeros, counter=int32[1]:zeros) seeds=3 expect=clean
// run: lock_no_fences block=32 grid=4 args(lock=int32[1]:zeros, counter=int32[1]:zeros) seeds=3 expect=race lines 23,23 space global
// run: lock_no_acquire block=32 grid=4 args(lock=int32[1]:zeros, counter=int32[1]:zeros) seeds=3 expect=race lines 30,30 space global
// run: lock_no_release block=32 grid=4 args(lock=int32[1]:zeros, counter=int32[1]:zeros) seeds=3 expect=race lines 39,39 space global
// run: lock_plain_unlock block=32 grid=4 args(lock=int32[1]:zeros, counter=int32[1]:zeros) seeds=3 expect=race lines 46,50 lines 50,50 space global
// run: lock_block_scope block=32 grid=3 args(lock=int32[1]:zeros, counter=int32[1]:zeros) seeds=3 expect=race lines 55,55 lines 55,59 lines 57,57 lines 59,59 space global
// run: lock_every_thread block=48 grid=2 args(lock=int32[1]:zeros, counter=int32[1]:zeros) seeds=3 expect=clean
//
// Mutual exclusion does not imply order: the lock must be acquired with an acquire and freed with a release.

__global__ void lock_fenced(int* lock, int* counter) {
    if (threadIdx.x != 0) return;
    while (atomicCAS(lock, 0, 1) != 0) {}
    __threadfence();
    *counter = *counter + 1;
    __threadfence();
    atomicExch(lock, 0);
}

__global__ void lock_no_fences(int* lock, int* counter) {
    if (threadIdx.x != 0) return;
    while (atomicCAS(lock, 0, 1) != 0) {}
    *counter = *counter + 1;
    atomicExch(lock, 0);
}

__global__ void lock_no_acquire(int* lock, int* counter) {
    if (threadIdx.x != 0) return;
    while (atomicCAS(lock, 0, 1) != 0) {}
    *counter = *counter + 1;
    __threadfence();
    atomicExch(lock, 0);
}

__global__ void lock_no_release(int* lock, int* counter) {
    if (threadIdx.x != 0) return;
    while (atomicCAS(lock, 0, 1) != 0) {}
    __threadfence();
    *counter = *counter + 1;
    atomicExch(lock, 0);
}

// The store that gives the lock back is neither atomic nor volatile: it races with the attempts to take it.
__global__ void lock_plain_unlock(int* lock, int* counter) {
    if (threadIdx.x != 0) return;
    while (atomicCAS(lock, 0, 1) != 0) {}
    __threadfence();
    atomicAdd(counter, 1);
    __threadfence();
    *lock = 0;
}

__global__ void lock_block_scope(int* lock, int* counter) {
    if (threadIdx.x != 0) return;
    while (atomicCAS_block(lock, 0, 1) != 0) {}
    __threadfence_block();
    *counter = *counter + 1;
    __threadfence_block();
    atomicExch_block(lock, 0);
}

// Acquired by each thread of a warp: each leaves its critical section before the next enters.
__global__ void lock_every_thread(int* lock, int* counter) {
    for (bool done = false; !done;) {
        if (atomicCAS(lock, 0, 1) == 0) {
            __threadfence();
            *counter = *counter + 1;
            __threadfence();
            atomicExch(lock, 0);
            done = true;
        }
    }
}
