// run: plain_load_of_counter block=32 grid=2 args(n=int32[1]:zeros, out=int32[64]:zeros) expect=race lines 15,16 space global
// run: plain_store_to_counter block=32 grid=2 args(n=int32[1]:zeros, out=int32[64]:zeros) expect=race lines 22,24 space global
// run: load_after_barrier block=32 args(n=int32[1]:zeros, out=int32[64]:zeros) expect=clean
// run: load_after_barrier_two_blocks block=32 grid=2 args(n=int32[1]:zeros, out=int32[64]:zeros) expect=race lines 36,38 space global
// run: volatile_load_of_counter block=32 grid=2 args(n=int32[1]:zeros, out=int32[64]:zeros) expect=clean
// run: volatile_against_plain block=32 grid=2 args(n=int32[1]:zeros, out=int32[64]:zeros) expect=race lines 50,52 space global
// run: volatile_against_volatile block=32 grid=2 args(n=int32[1]:zeros, out=int32[64]:zeros) expect=clean
// run: read_then_count block=64 args(n=int32[1]:zeros, out=int32[64]:zeros) expect=clean
// run: count_in_two_rounds block=64 args(n=int32[1]:zeros, out=int32[64]:zeros) expect=clean
//
// An atomic or volatile access does not race with another such; with a plain one it does, unless a barrier is between.

__global__ void plain_load_of_counter(int* n, int* out) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    atomicAdd(n, 1);
    out[i] = *n;
}

__global__ void plain_store_to_counter(int* n, int* out) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i == 0) {
        *n = 0;
    } else {
        out[i] = atomicAdd(n, 1);
    }
}

__global__ void load_after_barrier(int* n, int* out) {
    atomicAdd(n, 1);
    __syncthreads();
    out[threadIdx.x] = *n;
}

__global__ void load_after_barrier_two_blocks(int* n, int* out) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    atomicAdd(n, 1);
    __syncthreads();
    out[i] = *n;
}

__global__ void volatile_load_of_counter(int* n, int* out) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    atomicAdd(n, 1);
    out[i] = *(volatile int*)n > 0;
}

__global__ void volatile_against_plain(int* n, int* out) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i == 0) {
        *n = 3;
    } else {
        out[i] = *(volatile int*)n;
    }
}

__global__ void volatile_against_volatile(volatile int* n, int* out) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i == 0) *n = 3;
    else out[i] = *n & ~3;
}

// One thread reads a counter, then all count: the reader's own atomic is ordered, those of the others by the barrier.
__global__ void read_then_count(int* n, int* out) {
    if (threadIdx.x == 0) out[0] = *n;
    __syncthreads();
    atomicAdd(n, 1);
}

__global__ void count_in_two_rounds(int* n, int* out) {
    const int t = threadIdx.x;
    atomicAdd(n, 1);
    __syncthreads();
    if (t == 0) {
        out[0] = *n;
        *n = 100;
    }
    __syncthreads();
    atomicAdd(n, 1);
}
