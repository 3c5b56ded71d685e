// expect: fences race=proved divergence=proved
// expect: release_and_acquire race=proved divergence=proved
// expect: all_in_one_addition race=proved divergence=proved
// expect: with_barriers race=proved divergence=proved
// expect: wrapping_counter race=proved divergence=proved
// expect: threads_of_a_block race=proved divergence=proved
// expect: waits_for_all race=proved divergence=proved
// expect: waits_for_all_volatile race=proved divergence=proved
//
// The thread whose count is the last reads the writes of the others: the increments of one counter form a release
// sequence, with a release before each and an acquire after the last.

__device__ unsigned relaxed_load(unsigned* p) {
    unsigned value;
    asm volatile("ld.relaxed.gpu.u32 %0, [%1];" : "=r"(value) : "l"(p) : "memory");
    return value;
}

__device__ unsigned relaxed_add(unsigned* p) {
    unsigned old;
    asm volatile("atom.relaxed.gpu.add.u32 %0, [%1], 1;" : "=r"(old) : "l"(p) : "memory");
    return old;
}

__device__ unsigned release_add(unsigned* p) {
    unsigned old;
    asm volatile("atom.release.gpu.add.u32 %0, [%1], 1;" : "=r"(old) : "l"(p) : "memory");
    return old;
}

__device__ unsigned both_add(unsigned* p) {
    unsigned old;
    asm volatile("atom.acq_rel.gpu.add.u32 %0, [%1], 1;" : "=r"(old) : "l"(p) : "memory");
    return old;
}

__device__ void fence() {
    asm volatile("fence.acq_rel.gpu;" ::: "memory");
}

// selvage: block=1 assume(count[*] in 0..0)
__global__ void fences(unsigned* count, int* part, int* total) {
    part[blockIdx.x] = blockIdx.x;
    fence();
    if (relaxed_add(count) == gridDim.x - 1) {
        fence();
        int sum = 0;
        for (int b = 0; b < gridDim.x; ++b)
            sum += part[b];
        *total = sum;
    }
}

// selvage: block=1 assume(count[*] in 0..0)
__global__ void release_and_acquire(unsigned* count, int* part, int* total) {
    part[blockIdx.x] = blockIdx.x;
    if (release_add(count) == gridDim.x - 1) {
        fence();
        int sum = 0;
        for (int b = 0; b < gridDim.x; ++b)
            sum += part[b];
        *total = sum;
    }
}

// selvage: block=1 assume(count[*] in 0..0)
__global__ void all_in_one_addition(unsigned* count, int* part, int* total) {
    part[blockIdx.x] = blockIdx.x;
    if (both_add(count) == gridDim.x - 1) {
        int sum = 0;
        for (int b = 0; b < gridDim.x; ++b)
            sum += part[b];
        *total = sum;
    }
}

// Whole blocks: barriers carry it from and to the thread that counts.
// selvage: assume(count[*] in 0..0)
__global__ void with_barriers(unsigned* count, int* part, int* total) {
    __shared__ bool last;
    part[blockIdx.x * blockDim.x + threadIdx.x] = threadIdx.x;
    __syncthreads();
    if (threadIdx.x == 0) {
        __threadfence();
        last = atomicAdd(count, 1u) == gridDim.x - 1;
        __threadfence();
    }
    __syncthreads();
    if (last) {
        int sum = 0;
        for (int b = 0; b < gridDim.x; ++b)
            sum += part[b * blockDim.x + threadIdx.x];
        total[threadIdx.x] = sum;
    }
}

// selvage: assume(count[*] in 0..0)
__global__ void wrapping_counter(unsigned* count, int* part, int* total) {
    __shared__ bool last;
    if (threadIdx.x == 0) {
        part[blockIdx.x] = blockIdx.x;
        __threadfence();
        // Starts over for the next launch.
        last = atomicInc(count, gridDim.x - 1) == gridDim.x - 1;
        __threadfence();
    }
    __syncthreads();
    if (last) {
        for (int b = threadIdx.x; b < gridDim.x; b += blockDim.x)
            total[b] = part[b];
    }
}

__global__ void threads_of_a_block(int* out) {
    __shared__ unsigned count;
    __shared__ int part[1024];
    if (threadIdx.x == 0) count = 0;
    __syncthreads();
    part[threadIdx.x] = threadIdx.x;
    __threadfence_block();
    if (atomicAdd_block(&count, 1u) == blockDim.x - 1) {
        __threadfence_block();
        int sum = 0;
        for (int i = 0; i < blockDim.x; ++i)
            sum += part[i];
        out[blockIdx.x] = sum;
    }
}

// A barrier of the grid made by hand, for grids that fit on the device at once.
// selvage: assume(count[*] in 0..0)
__global__ void waits_for_all(unsigned* count, int* a, int* out) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int n = gridDim.x * blockDim.x;
    a[i] = i;
    __syncthreads();
    if (threadIdx.x == 0) {
        __threadfence();
        atomicAdd(count, 1u);
        while (relaxed_load(count) < gridDim.x) {
        }
        __threadfence();
    }
    __syncthreads();
    out[i] = a[n - 1 - i];
}

// The same with a volatile load, as barriers of the grid had it before atomic loads existed.
// selvage: block=64 grid=4 assume(count[*] in 0..0)
__global__ void waits_for_all_volatile(unsigned* count, int* a, int* out) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int n = gridDim.x * blockDim.x;
    a[i] = i;
    __syncthreads();
    if (threadIdx.x == 0) {
        __threadfence();
        atomicAdd(count, 1u);
        while (*(volatile unsigned*)count < gridDim.x) {
        }
        __threadfence();
    }
    __syncthreads();
    out[i] = a[n - 1 - i];
}
