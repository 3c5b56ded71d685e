// expect: last_block repaired +2 -0
// expect: by_flag repaired +1 -0
//
// Blocks pass data to each other by a counter or a flag; barriers of the block order it relative to the thread that
// counts. No barrier between the two accesses orders them, but those around the release-acquire pair do.

// selvage: block=64 grid=4 assume(count[*] in 0..0)
__global__ void last_block(unsigned* count, int* part, int* total) {
    __shared__ bool last;
    part[blockIdx.x * blockDim.x + threadIdx.x] = threadIdx.x;
    if (threadIdx.x == 0) {
        __threadfence();
        last = atomicAdd(count, 1u) == gridDim.x - 1;
        __threadfence();
    }
    if (last) {
        int sum = 0;
        for (int b = 0; b < gridDim.x; ++b)
            sum += part[b * blockDim.x + threadIdx.x];
        total[threadIdx.x] = sum;
    }
}

// selvage: block=32 grid=2 assume(flag[*] in 0..0)
__global__ void by_flag(int* flag, int* data, int* out) {
    if (blockIdx.x == 0) {
        data[threadIdx.x] = threadIdx.x;
        if (threadIdx.x == 0) {
            __threadfence();
            atomicExch(flag, 1);
        }
    } else {
        if (threadIdx.x == 0) {
            while (atomicAdd(flag, 0) == 0) {
            }
            __threadfence();
        }
        __syncthreads();
        out[threadIdx.x] = data[31 - threadIdx.x];
    }
}
