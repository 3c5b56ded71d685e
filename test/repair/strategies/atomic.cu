// expect: count repaired +0 -0
// expect: total repaired +1 -0
// expect: doubled unrepairable
//
// Updates by several threads: atomics, and a barrier where the result is read. Doubling has no atomic.

// selvage: block=256 grid=4
__global__ void count(const int* in, int* bins, float* sums, int* most) {
    int v = in[blockIdx.x * 256 + threadIdx.x];
    bins[v & 15]++;
    sums[v & 15] += 0.5f * v + 1;
    if (v > most[0]) most[0] = v;
}

// selvage: block=256 grid=4
__global__ void total(const int* in, int* out) {
    __shared__ int sum;
    if (threadIdx.x == 0) sum = 0;
    __syncthreads();
    sum = sum + in[blockIdx.x * 256 + threadIdx.x];
    if (threadIdx.x == 0) out[blockIdx.x] = sum;
}

// selvage: block=64 grid=1
__global__ void doubled(int* x) {
    x[0] *= 2;
}
