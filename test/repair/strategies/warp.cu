// expect: reduce repaired +2 -0
// expect: swap_neighbours repaired +1 -0
//
// Threads of one warp communicate on a path that the rest of the block does not take: barriers of the warp.

// selvage: block=256 grid=4
__global__ void reduce(const float* in, float* out) {
    __shared__ float s[256];
    int t = threadIdx.x;
    s[t] = in[blockIdx.x * 256 + t];
    __syncthreads();
    for (int d = 128; d > 32; d /= 2) {
        if (t < d) s[t] += s[t + d];
        __syncthreads();
    }
    if (t < 32) {
        s[t] += s[t + 32];
        if (t < 16) s[t] += s[t + 16];
    }
    __syncthreads();
    if (t < 32) {
        float theirs = s[t ^ 1];
        s[t] = theirs;
    }
    if (t == 0) out[blockIdx.x] = s[0];
}

// selvage: block=128 grid=1
__global__ void swap_neighbours(int* a, int* b) {
    int t = threadIdx.x;
    if (t >= 96) a[t] = a[t ^ 1];
    b[t] = t;
}
