// run: last_block block=64 grid=4 args(in=int32[256]:iota, partial=int32[4]:zeros, retired=int32[1]:zeros, out=int32[1]:zeros) seeds=3 expect=clean
// run: last_block_no_fence block=64 grid=4 args(in=int32[256]:iota, partial=int32[4]:zeros, retired=int32[1]:zeros, out=int32[1]:zeros) seeds=3 expect=race lines 37,42 space global
// run: last_block_fence_before_only block=64 grid=4 args(in=int32[256]:iota, partial=int32[4]:zeros, retired=int32[1]:zeros, out=int32[1]:zeros) seeds=3 expect=race lines 52,58 space global
// run: last_block_missing_barrier block=64 grid=4 args(in=int32[256]:iota, partial=int32[4]:zeros, retired=int32[1]:zeros, out=int32[1]:zeros) seeds=3 expect=race lines 70,73 space shared
//
// Each block writes its sum and counts itself in; the one that comes last adds the sums of all.

__device__ int block_sum(const int* in) {
    __shared__ int s[64];
    const int t = threadIdx.x;
    s[t] = in[blockIdx.x * 64 + t];
    __syncthreads();
    for (int d = 32; d > 0; d >>= 1) {
        if (t < d) s[t] += s[t + d];
        __syncthreads();
    }
    return s[0];
}

__global__ void last_block(const int* in, int* partial, unsigned* retired, int* out) {
    __shared__ bool last;
    const int sum = block_sum(in);
    if (threadIdx.x == 0) {
        partial[blockIdx.x] = sum;
        __threadfence();
        last = atomicInc(retired, gridDim.x - 1) == gridDim.x - 1;
        __threadfence();
    }
    __syncthreads();
    if (last && threadIdx.x < gridDim.x) atomicAdd(out, partial[threadIdx.x]);
}

__global__ void last_block_no_fence(const int* in, int* partial, unsigned* retired, int* out) {
    __shared__ bool last;
    const int sum = block_sum(in);
    if (threadIdx.x == 0) {
        partial[blockIdx.x] = sum;
        last = atomicInc(retired, gridDim.x - 1) == gridDim.x - 1;
    }
    __syncthreads();
    if (last && threadIdx.x < gridDim.x) {
        const int value = partial[threadIdx.x];
        atomicAdd(out, value);
    }
}

// The reader needs a fence after its atomic as the writers need one before theirs.
__global__ void last_block_fence_before_only(const int* in, int* partial, unsigned* retired, int* out) {
    __shared__ bool last;
    const int sum = block_sum(in);
    if (threadIdx.x == 0) {
        partial[blockIdx.x] = sum;
        __threadfence();
        last = atomicInc(retired, gridDim.x - 1) == gridDim.x - 1;
    }
    __syncthreads();
    if (last && threadIdx.x < gridDim.x) {
        const int value = partial[threadIdx.x];
        atomicAdd(out, value);
    }
}

__global__ void last_block_missing_barrier(const int* in, int* partial, unsigned* retired, int* out) {
    __shared__ bool last;
    if (threadIdx.x == 0) last = false;
    const int sum = block_sum(in);
    if (threadIdx.x == 0) {
        partial[blockIdx.x] = sum;
        __threadfence();
        last = atomicInc(retired, gridDim.x - 1) == gridDim.x - 1;
        __threadfence();
    }
    if (last && threadIdx.x == 32) {
        atomicAdd(out, 1);
    }
}
