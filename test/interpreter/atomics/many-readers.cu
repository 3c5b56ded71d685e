// run: window_in_place block=64 args(data=int32[66]:iota, n=66) expect=race lines 13,15 space global
// run: window_barrier block=64 args(data=int32[66]:iota, n=66) expect=clean
// run: all_read_one_writes block=96 args(data=int32[1]:fill(5), out=int32[96]:zeros) expect=race lines 28,30 space global
// run: all_read_last_writes block=96 grid=2 args(data=int32[1]:fill(5), out=int32[192]:zeros) expect=race lines 36,39 space global
// run: all_read_then_one_writes block=96 args(data=int32[1]:fill(5), out=int32[96]:zeros) expect=clean
// run: warps_read_after_warp_barrier block=64 args(out=int32[64]:zeros) expect=race lines 54,57 space shared
//
// Several threads read a word before one writes it: the write races with readers other than the one that came last.

__global__ void window_in_place(int* data, int n) {
    const int t = threadIdx.x;
    if (t < n - 2) {
        const int left = data[t];
        const int sum = left + data[t + 1];
        data[t + 1] = sum;
    }
}

__global__ void window_barrier(int* data, int n) {
    const int t = threadIdx.x;
    int sum = 0;
    if (t < n - 2) sum = data[t] + data[t + 1];
    __syncthreads();
    if (t < n - 2) data[t + 1] = sum;
}

__global__ void all_read_one_writes(int* data, int* out) {
    out[threadIdx.x] = *data;
    if (threadIdx.x == 95) {
        *data = 6;
    }
}

// Each block orders its own readers before its last thread, not those of the other block.
__global__ void all_read_last_writes(int* data, int* out) {
    out[blockIdx.x * blockDim.x + threadIdx.x] = *data;
    __syncthreads();
    if (blockIdx.x == 1 && threadIdx.x == 95) {
        *data = 6;
    }
}

__global__ void all_read_then_one_writes(int* data, int* out) {
    out[threadIdx.x] = *data;
    __syncthreads();
    if (threadIdx.x == 40) *data = 6;
}

// The warp's own readers are ordered by the warp barrier; those of the other warp are not.
__global__ void warps_read_after_warp_barrier(int* out) {
    __shared__ int word;
    if (threadIdx.x == 0) word = 9;
    __syncthreads();
    out[threadIdx.x] = word;
    __syncwarp();
    if (threadIdx.x == 37) {
        word = 10;
    }
}
