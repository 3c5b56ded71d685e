// expect: all_atomic race=proved divergence=proved
// expect: plain_read race=race divergence=proved finding race/global lines 21,22
// expect: plain_write race=race divergence=proved finding race/global lines 28,29
// expect: block_scope_in_block race=proved divergence=proved
// expect: block_scope_across_blocks race=race divergence=proved finding race/global lines 38,38
// expect: different_widths race=race divergence=proved finding race/global lines 44,46
//
// Atomic accesses do not race with each other, as long as their scopes include both threads and they cover the same
// bytes; with plain accesses they do.

__global__ void all_atomic(int* a, int* out) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    atomicAdd(&a[0], 1);
    atomicMax(&a[1], i);
    out[i] = atomicOr(&a[0], 0);
}

// selvage: block=32 grid=1
__global__ void plain_read(int* a, int* out) {
    int t = threadIdx.x;
    atomicAdd(a, t);
    out[t] = *a;
}

// selvage: block=32 grid=2
__global__ void plain_write(int* a) {
    if (threadIdx.x == 0 && blockIdx.x == 1)
        *a = 0;
    atomicAdd(a, 1);
}

__global__ void block_scope_in_block(int* a) {
    atomicAdd_block(&a[blockIdx.x], 1);
}

// selvage: block=32 grid=4
__global__ void block_scope_across_blocks(int* a) {
    atomicAdd_block(a, 1);
}

// selvage: block=2 grid=1
__global__ void different_widths(unsigned long long* a) {
    if (threadIdx.x == 0)
        atomicAdd(a, 1ull);
    else
        atomicAdd((unsigned*)a + 1, 1u);
}
