// expect: all_read race=proved divergence=proved
// expect: one_writes race=race divergence=proved finding race/global lines 19,20
// expect: read_only_path race=proved divergence=proved
// expect: last_thread_updates race=race divergence=proved finding race/shared lines 38,40
//
// A race takes a write. That most threads read, and one writes, is enough.

__global__ void all_read(const int* a, int* out, int n) {
    int sum = 0;
    for (int k = 0; k < n; ++k)
        sum += a[k];
    out[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}

// selvage: block=32 grid=2
__global__ void one_writes(int* a, int* out) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i == 40)
        a[7] = 1;
    out[i] = a[7];
}

// The write is there, but no thread gets to it.
// selvage: arg(update=0)
__global__ void read_only_path(int* a, int* out, int update) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (update)
        a[0] = i;
    out[i] = a[0];
}

// selvage: block=96 grid=1
__global__ void last_thread_updates(int* out) {
    __shared__ int s;
    int t = threadIdx.x;
    if (t == 0) s = 1;
    __syncthreads();
    out[t] = s;
    if (t == 95)
        s = s + 1;
    __syncthreads();
    out[96 + t] = s;
}
