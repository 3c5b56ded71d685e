// expect: scan_any race=proved divergence=proved
// expect: scan_any silent
// expect: scan_buffers_any race=proved divergence=proved
// expect: scan_buffers_any silent
// expect: scan_read_unordered_any race=race divergence=proved
// expect: scan_read_unordered_any finding race/shared error on s lines 49
// expect: scan_write_unordered_any race=race divergence=proved
// expect: scan_write_unordered_any finding race/shared error on s lines 62,64
// expect: scan_carry_any race=race divergence=proved
// expect: scan_carry_any finding race/global error on sums lines 82,83
//
// Scans of a block after Hillis and Steele.

__global__ void scan_any(int* a) {
    __shared__ int s[256];
    int t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
    s[t] = a[i];
    __syncthreads();
    for (int d = 1; d < blockDim.x; d *= 2) {
        int v = t >= d ? s[t - d] : 0;
        __syncthreads();
        s[t] += v;
        __syncthreads();
    }
    a[i] = s[t];
}

// Two buffers, of which each iteration reads one and writes the other.
__global__ void __launch_bounds__(256) scan_buffers_any(int* a) {
    __shared__ int s[2][256];
    int t = threadIdx.x, i = blockIdx.x * blockDim.x + t, p = 0;
    s[0][t] = a[i];
    __syncthreads();
    for (int d = 1; d < blockDim.x; d *= 2) {
        s[1 - p][t] = s[p][t] + (t >= d ? s[p][t - d] : 0);
        p = 1 - p;
        __syncthreads();
    }
    a[i] = s[p][t];
}

// No barrier between a thread's load of its neighbour and that neighbour's store.
__global__ void scan_read_unordered_any(int* a) {
    __shared__ int s[256];
    int t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
    s[t] = a[i];
    __syncthreads();
    for (int d = 1; d < blockDim.x; d *= 2) {
        s[t] += t >= d ? s[t - d] : 0;
        __syncthreads();
    }
    a[i] = s[t];
}

// No barrier between the stores of an iteration and the loads of the next one.
__global__ void scan_write_unordered_any(int* a) {
    __shared__ int s[256];
    int t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
    s[t] = a[i];
    __syncthreads();
    for (int d = 1; d < blockDim.x; d *= 2) {
        int v = t >= d ? s[t - d] : 0;
        __syncthreads();
        s[t] += v;
    }
    a[i] = s[t];
}

// Each block reads the sum that the block before it stores in the same launch.
__global__ void scan_carry_any(int* a, int* sums) {
    __shared__ int s[256];
    int t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
    s[t] = a[i];
    __syncthreads();
    for (int d = 1; d < blockDim.x; d *= 2) {
        int v = t >= d ? s[t - d] : 0;
        __syncthreads();
        s[t] += v;
        __syncthreads();
    }
    if (t == blockDim.x - 1)
        sums[blockIdx.x + 1] = s[t];
    a[i] = s[t] + sums[blockIdx.x];
}
