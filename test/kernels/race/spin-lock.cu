// expect: spin race=proved divergence=proved
// expect: try_until_taken race=proved divergence=proved
// expect: shared_lock race=proved divergence=proved
// expect: without_fences race=race divergence=proved finding race/global lines 51,51
// expect: fences_of_the_block race=race divergence=proved finding race/global lines 59,59
//
// Accesses under a lock are ordered, by the fences after acquiring and before releasing it.

__global__ void spin(int* lock, int* sum, const int* v) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    while (atomicCAS(lock, 0, 1) != 0) {
    }
    __threadfence();
    *sum += v[i];
    __threadfence();
    atomicExch(lock, 0);
}

__global__ void try_until_taken(int* lock, int* sum, const int* v) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    for (bool done = false; !done;) {
        if (atomicCAS(lock, 0, 1) == 0) {
            __threadfence();
            sum[0] += v[i];
            sum[1] = i;
            __threadfence();
            *(volatile int*)lock = 0;
            done = true;
        }
    }
}

__global__ void shared_lock(int* out, const int* v) {
    __shared__ int lock, best;
    if (threadIdx.x == 0) lock = best = 0;
    __syncthreads();
    int x = v[blockIdx.x * blockDim.x + threadIdx.x];
    while (atomicCAS(&lock, 0, 1) != 0) {
    }
    __threadfence_block();
    if (x > best) best = x;
    __threadfence_block();
    atomicExch(&lock, 0);
    __syncthreads();
    if (threadIdx.x == 0) out[blockIdx.x] = best;
}

// selvage: block=64 grid=4
__global__ void without_fences(int* lock, int* sum, const int* v) {
    while (atomicCAS(lock, 0, 1) != 0);
    *sum += v[threadIdx.x];
    atomicExch(lock, 0);
}

// selvage: block=1 grid=16
__global__ void fences_of_the_block(int* lock, int* sum, const int* v) {
    while (atomicCAS(lock, 0, 1) != 0);
    __threadfence_block();
    *sum += v[blockIdx.x];
    __threadfence_block();
    atomicExch(lock, 0);
}
