// expect: all_take_it race=possible divergence=possible
// expect: one_thread_each race=proved divergence=proved
// expect: one_for_all race=proved divergence=proved
//
// A thread with a lock at a barrier waits for threads that wait for the lock.

__global__ void all_take_it(int* lock, int* sum, const int* v) {
    while (atomicCAS(lock, 0, 1) != 0) {
    }
    __threadfence();
    *sum += v[threadIdx.x];
    __syncthreads();
    __threadfence();
    atomicExch(lock, 0);
}

// selvage: block=1
__global__ void one_thread_each(int* lock, int* sum, const int* v) {
    while (atomicCAS(lock, 0, 1) != 0) {
    }
    __threadfence();
    *sum += v[blockIdx.x];
    __syncthreads();
    __threadfence();
    atomicExch(lock, 0);
}

// One thread holds it for its block.
// selvage: block=64 grid=4
__global__ void one_for_all(int* lock, int* sum, const int* v) {
    int t = threadIdx.x;
    if (t == 0) {
        while (atomicCAS(lock, 0, 1) != 0) {
        }
        __threadfence();
    }
    __syncthreads();
    if (t < 32) sum[t] += v[t];
    __syncthreads();
    if (t == 0) {
        __threadfence();
        atomicExch(lock, 0);
    }
}
