// run: flag_fenced block=32 grid=2 args(data=int32[1]:zeros, flag=int32[1]:zeros, out=int32[1]:zeros) seeds=3 expect=clean
// run: flag_no_release_fence block=32 grid=2 args(data=int32[1]:zeros, flag=int32[1]:zeros, out=int32[1]:zeros) seeds=3 expect=race lines 29,34 space global
// run: flag_no_acquire_fence block=32 grid=2 args(data=int32[1]:zeros, flag=int32[1]:zeros, out=int32[1]:zeros) seeds=3 expect=race lines 41,46 space global
// run: flag_fence_after_flag block=32 grid=2 args(data=int32[1]:zeros, flag=int32[1]:zeros, out=int32[1]:zeros) seeds=3 expect=race lines 53,59 space global
// run: flag_block_fence block=32 grid=2 args(data=int32[1]:zeros, flag=int32[1]:zeros, out=int32[1]:zeros) seeds=3 expect=race lines 67,73 space global
// run: flag_plain_flag block=32 grid=2 args(data=int32[1]:zeros, flag=int32[1]:zeros, out=int32[1]:zeros) seeds=3 build=verification expect=race lines 82,84 space global
// run: flag_atomic block=32 grid=2 args(data=int32[1]:zeros, flag=int32[1]:zeros, out=int32[1]:zeros) seeds=3 expect=clean
// run: flag_between_warps block=64 args(out=int32[32]:zeros) seeds=3 expect=clean
// run: flag_between_warps_no_fence block=64 args(out=int32[32]:zeros) seeds=3 expect=race lines 127,132 space shared
//
// A value published by a flag: fence and strong write on one side, strong read and fence on the other.

__global__ void flag_fenced(int* data, volatile int* flag, int* out) {
    if (threadIdx.x != 0) return;
    if (blockIdx.x == 0) {
        *data = 42;
        __threadfence();
        *flag = 1;
    } else {
        while (*flag == 0) {}
        __threadfence();
        *out = *data;
    }
}

__global__ void flag_no_release_fence(int* data, volatile int* flag, int* out) {
    if (threadIdx.x != 0) return;
    if (blockIdx.x == 0) {
        *data = 42;
        *flag = 1;
    } else {
        while (*flag == 0) {}
        __threadfence();
        *out = *data;
    }
}

__global__ void flag_no_acquire_fence(int* data, volatile int* flag, int* out) {
    if (threadIdx.x != 0) return;
    if (blockIdx.x == 0) {
        *data = 42;
        __threadfence();
        *flag = 1;
    } else {
        while (*flag == 0) {}
        *out = *data;
    }
}

__global__ void flag_fence_after_flag(int* data, volatile int* flag, int* out) {
    if (threadIdx.x != 0) return;
    if (blockIdx.x == 0) {
        *data = 42;
        *flag = 1;
        __threadfence();
    } else {
        while (*flag == 0) {}
        __threadfence();
        *out = *data;
    }
}

// The scope of a block fence does not include the thread of the other block.
__global__ void flag_block_fence(int* data, volatile int* flag, int* out) {
    if (threadIdx.x != 0) return;
    if (blockIdx.x == 0) {
        *data = 42;
        __threadfence_block();
        *flag = 1;
    } else {
        while (*flag == 0) {}
        __threadfence_block();
        *out = *data;
    }
}

__global__ void flag_plain_flag(int* data, int* flag, int* out) {
    if (threadIdx.x != 0) return;
    if (blockIdx.x == 0) {
        *data = 42;
        __threadfence();
        *flag = 1;
    } else {
        while (*flag == 0) {}
        __threadfence();
        *out = *data;
    }
}

__global__ void flag_atomic(int* data, int* flag, int* out) {
    if (threadIdx.x != 0) return;
    if (blockIdx.x == 0) {
        *data = 42;
        __threadfence();
        atomicExch(flag, 1);
    } else {
        while (atomicAdd(flag, 0) == 0) {}
        __threadfence();
        *out = *data;
    }
}

__global__ void flag_between_warps(int* out) {
    __shared__ int data[32];
    __shared__ volatile int ready[32];
    int lane = threadIdx.x & 31;
    if (threadIdx.x < 32) ready[lane] = 0;
    __syncthreads();
    if (threadIdx.x < 32) {
        data[lane] = 3 * lane;
        __threadfence_block();
        ready[lane] = 1;
    } else {
        while (ready[31 - lane] == 0) {}
        __threadfence_block();
        out[lane] = data[31 - lane];
    }
}

__global__ void flag_between_warps_no_fence(int* out) {
    __shared__ int data[32];
    __shared__ volatile int ready[32];
    int lane = threadIdx.x & 31;
    if (threadIdx.x < 32) ready[lane] = 0;
    __syncthreads();
    if (threadIdx.x < 32) {
        data[lane] = 3 * lane;
        ready[lane] = 1;
    } else {
        while (ready[31 - lane] == 0) {}
        __threadfence_block();
        out[lane] = data[31 - lane];
    }
}
