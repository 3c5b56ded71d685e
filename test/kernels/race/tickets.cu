// expect: append race=proved divergence=proved
// expect: append_pair race=proved divergence=proved
// expect: append_overlapping race=race divergence=proved finding race/global lines 33,34
// expect: compact race=proved divergence=proved
//
// The result of atomicAdd is a separate range of elements, if all threads add the number of elements that they use.

// selvage: arg(n=512)
__global__ void append(const int* v, int* out, int* count, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n && v[i] > 0) {
        int j = atomicAdd(count, 1);
        out[j] = v[i];
    }
}

// selvage: arg(n=512)
__global__ void append_pair(const int* v, int2* out, unsigned* count, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n && v[i] > 0) {
        unsigned j = atomicAdd(count, 2u);
        out[j] = make_int2(i, v[i]);
        out[j + 1] = make_int2(v[i], i);
    }
}

// selvage: block=128 grid=4 arg(n=512)
__global__ void append_overlapping(int* out, unsigned* count, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        // Takes one place and uses two.
        unsigned j = atomicAdd(count, 1u);
        out[j] = i;
        out[j + 1] = -i;
    }
}

// selvage: block=128 grid=4
__global__ void compact(const int* v, int* out) {
    __shared__ int count;
    __shared__ int kept[128];
    int i = blockIdx.x * 128 + threadIdx.x;
    if (threadIdx.x == 0)
        count = 0;
    __syncthreads();
    if (v[i] > 0)
        kept[atomicAdd(&count, 1)] = v[i];
    __syncthreads();
    out[i] = threadIdx.x < count ? kept[threadIdx.x] : 0;
}
