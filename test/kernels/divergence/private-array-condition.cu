// expect: local_flag race=possible divergence=divergent finding barrier/divergent lines 12
// expect: same_in_all race=proved divergence=proved
//
// Every thread reads its own copy of a local array, by the same index: the address is uniform, the value is not.

// selvage: block=64 grid=1
__global__ void local_flag(int* a, int n) {
    int flags[4];
    for (int i = 0; i < 4; i++) flags[i] = threadIdx.x & 1;
    flags[n & 3] = threadIdx.x & 1;
    if (flags[(n + 1) & 3]) {
        __syncthreads();
    }
    a[threadIdx.x] = 1;
}

// selvage: block=64 grid=1
__global__ void same_in_all(int* a, const int* flags, int n) {
    if (flags[n & 3]) {
        __syncthreads();
    }
    a[threadIdx.x] = 1;
}
