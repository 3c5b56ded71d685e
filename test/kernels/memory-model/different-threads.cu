// expect: own_element race=proved divergence=proved
// expect: same_thread_in_other_blocks race=race divergence=proved finding race/global lines 21,22
// expect: one_writer race=proved divergence=proved
// expect: one_writer_in_each_block race=race divergence=proved finding race/global lines 36,36
//
// A race takes two threads: they differ in the number within the block or in the block, and either is enough.

__global__ void own_element(int* a, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        a[i] = i;
        for (int k = 0; k < 3; ++k)
            a[i] = a[i] * 2 + k;
    }
}

// selvage: block=32 grid=2
__global__ void same_thread_in_other_blocks(int* a) {
    int t = threadIdx.x;
    if (blockIdx.x == 0)
        a[t] = t;
    int seen = a[t];
    a[64 + blockIdx.x * 32 + t] = seen;
}

__global__ void one_writer(int* a, int* b) {
    if (blockIdx.x == 0 && threadIdx.x == 0) {
        a[0] = 1;
        b[0] = a[0] + a[1];
    }
}

// selvage: block=64 grid=8
__global__ void one_writer_in_each_block(int* a) {
    if (threadIdx.x == 5)
        a[0] = blockIdx.x;
}
