// expect: rotate repaired +1 -0
// expect: two_phases repaired +1 -0
// expect: relax repaired +2 -0
// expect: sum_of_blocks repaired +1 -0
//
// Blocks read elements that others write, without order.

// The header that the repairs include then compiles in a third of the time.
#define _CG_LIMIT_INCLUDED_DEPENDENCIES

// selvage: block=64 grid=4 cooperative arg(n=256)
__global__ void rotate(const int* a, int* b, int* c, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    b[i] = a[i];
    c[i] = b[(i + 1) % n];
}

// selvage: block=64 grid=4 cooperative
__global__ void two_phases(float* data, float* result) {
    __shared__ float tile[64];
    int i = blockIdx.x * 64 + threadIdx.x;
    tile[threadIdx.x] = data[i];
    __syncthreads();
    data[i] = tile[63 - threadIdx.x];
    result[i] = data[255 - i];
}

// selvage: block=32 grid=8 cooperative arg(n=256)
__global__ void relax(float* from, float* to, int n, int rounds) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    for (int k = 0; k < rounds; ++k) {
        to[i] = 0.5f * (from[i] + from[(i + 1) % n]);
        from[i] = to[i];
    }
}

// selvage: block=64 grid=8 cooperative
__global__ void sum_of_blocks(const int* in, int* sums, int* total) {
    __shared__ int part[64];
    int t = threadIdx.x;
    part[t] = in[blockIdx.x * 64 + t];
    __syncthreads();
    for (int d = 32; d > 0; d /= 2) {
        if (t < d) part[t] += part[t + d];
        __syncthreads();
    }
    if (t == 0) sums[blockIdx.x] = part[0];
    if (blockIdx.x == 0 && t == 0) {
        int sum = 0;
        for (int b = 0; b < 8; b++) sum += sums[b];
        total[0] = sum;
    }
}
