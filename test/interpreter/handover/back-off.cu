// run: back_off_lock block=32 grid=3 args(lock=int32[1]:zeros, total=int32[2]:zeros) seeds=3 expect=clean
// run: system_fences block=32 grid=2 args(data=int32[1]:zeros, flag=int32[1]:zeros, out=int32[1]:zeros) seeds=3 expect=clean
// run: two_locks block=32 grid=4 args(locks=int32[2]:zeros, total=int32[1]:zeros) seeds=3 expect=race lines 42,42 space global
// run: barrier_of_counters block=32 grid=3 args(arrived=int32[1]:zeros, data=int32[96]:zeros, out=int32[96]:zeros) seeds=3 expect=clean
// run: barrier_of_counters_no_fences block=32 grid=3 args(arrived=int32[1]:zeros, data=int32[96]:zeros, out=int32[96]:zeros) seeds=3 expect=race lines 63,70 space global
//
// A lock that backs off, fences of the whole system, two locks for one variable, a grid barrier written by hand.

__global__ void back_off_lock(int* lock, int* total) {
    if (threadIdx.x != 0) return;
    unsigned pause = 8;
    while (atomicExch(lock, 1) != 0) {
        __nanosleep(pause);
        if (pause < 256) pause *= 2;
    }
    __threadfence();
    total[0] += blockIdx.x + 1;
    total[1] = total[0] * 2;
    __threadfence();
    atomicExch(lock, 0);
}

__global__ void system_fences(int* data, volatile int* flag, int* out) {
    if (threadIdx.x != 0) return;
    if (blockIdx.x == 0) {
        *data = 42;
        __threadfence_system();
        *flag = 1;
    } else {
        while (*flag == 0) {}
        __threadfence_system();
        *out = *data;
    }
}

// Even blocks take one lock, odd blocks the other.
__global__ void two_locks(int* locks, int* total) {
    if (threadIdx.x != 0) return;
    int* lock = &locks[blockIdx.x & 1];
    while (atomicCAS(lock, 0, 1) != 0) {}
    __threadfence_block();
    *total = *total + 1;
    __threadfence_block();
    atomicExch(lock, 0);
}

__global__ void barrier_of_counters(int* arrived, int* data, int* out) {
    const int i = blockIdx.x * 32 + threadIdx.x;
    data[i] = i;
    __syncthreads();
    if (threadIdx.x == 0) {
        __threadfence();
        atomicAdd(arrived, 1);
        while (*(volatile int*)arrived < gridDim.x) {}
        __threadfence();
    }
    __syncthreads();
    out[i] = data[95 - i];
}

__global__ void barrier_of_counters_no_fences(int* arrived, int* data, int* out) {
    const int i = blockIdx.x * 32 + threadIdx.x;
    data[i] = i;
    __syncthreads();
    if (threadIdx.x == 0) {
        atomicAdd(arrived, 1);
        while (*(volatile int*)arrived < gridDim.x) {}
    }
    __syncthreads();
    out[i] = data[95 - i];
}
