// run: flag_barrier block=64 grid=2 args(data=int32[64]:zeros, flag=int32[1]:zeros, out=int32[64]:zeros) seeds=3 expect=clean
// run: flag_barrier_missing_before block=64 grid=2 args(data=int32[64]:zeros, flag=int32[1]:zeros, out=int32[64]:zeros) seeds=3 expect=race lines 31,42 space global
// run: flag_barrier_missing_after block=64 grid=2 args(data=int32[64]:zeros, flag=int32[1]:zeros, out=int32[64]:zeros) seeds=3 expect=race lines 49,60 space global
// run: flag_chain block=32 grid=3 args(data=int32[1]:zeros, flag=int32[2]:zeros, out=int32[1]:zeros) seeds=3 expect=clean
// run: flag_chain_broken block=32 grid=3 args(data=int32[1]:zeros, flag=int32[2]:zeros, out=int32[1]:zeros) seeds=3 expect=race lines 85,94 space global
//
// Barriers and fences are cumulative: one thread of a block publishes the writes of all.

__global__ void flag_barrier(int* data, volatile int* flag, int* out) {
    const int t = threadIdx.x;
    if (blockIdx.x == 0) {
        data[t] = t * t;
        __syncthreads();
        if (t == 0) {
            __threadfence();
            *flag = 1;
        }
    } else {
        if (t == 0) {
            while (*flag == 0) {}
            __threadfence();
        }
        __syncthreads();
        out[t] = data[63 - t];
    }
}

__global__ void flag_barrier_missing_before(int* data, volatile int* flag, int* out) {
    const int t = threadIdx.x;
    if (blockIdx.x == 0) {
        data[t] = t * t;
        if (t == 0) {
            __threadfence();
            *flag = 1;
        }
    } else {
        if (t == 0) {
            while (*flag == 0) {}
            __threadfence();
        }
        __syncthreads();
        out[t] = data[63 - t];
    }
}

__global__ void flag_barrier_missing_after(int* data, volatile int* flag, int* out) {
    const int t = threadIdx.x;
    if (blockIdx.x == 0) {
        data[t] = t * t;
        __syncthreads();
        if (t == 0) {
            __threadfence();
            *flag = 1;
        }
    } else {
        if (t == 0) {
            while (*flag == 0) {}
            __threadfence();
        }
        out[t] = data[63 - t];
    }
}

// The middle block publishes data that it did not access itself.
__global__ void flag_chain(int* data, volatile int* flag, int* out) {
    if (threadIdx.x != 0) return;
    if (blockIdx.x == 0) {
        *data = 7;
        __threadfence();
        flag[0] = 1;
    } else if (blockIdx.x == 1) {
        while (flag[0] == 0) {}
        __threadfence();
        flag[1] = 1;
    } else {
        while (flag[1] == 0) {}
        __threadfence();
        *out = *data;
    }
}

__global__ void flag_chain_broken(int* data, volatile int* flag, int* out) {
    if (threadIdx.x != 0) return;
    if (blockIdx.x == 0) {
        *data = 7;
        __threadfence();
        flag[0] = 1;
    } else if (blockIdx.x == 1) {
        while (flag[0] == 0) {}
        flag[1] = 1;
    } else {
        while (flag[1] == 0) {}
        __threadfence();
        *out = *data;
    }
}
