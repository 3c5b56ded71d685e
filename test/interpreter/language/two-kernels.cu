// run: blur_to_other block=32 grid=2 args(in=int32[66]:iota, out=int32[66]:zeros) expect=clean
// run: blur_in_place block=32 grid=2 args(data=int32[66]:iota) expect=race lines 15,15 space global
// run: reverse_with_barrier block=64 args(data=int32[64]:iota) expect=clean
// run: reverse_without_barrier block=64 args(data=int32[64]:iota) expect=race lines 25,26 space global
//
// Unrelated kernels in one file.

__global__ void blur_to_other(const int* in, int* out) {
    const int i = 1 + blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = in[i - 1] + 2 * in[i] + in[i + 1];
}

__global__ void blur_in_place(int* data) {
    const int i = 1 + blockIdx.x * blockDim.x + threadIdx.x;
    data[i] = data[i - 1] + 2 * data[i] + data[i + 1];
}

__global__ void reverse_with_barrier(int* data) {
    const int v = data[63 - threadIdx.x];
    __syncthreads();
    data[threadIdx.x] = v;
}

__global__ void reverse_without_barrier(int* data) {
    const int v = data[63 - threadIdx.x];
    data[threadIdx.x] = v;
}
