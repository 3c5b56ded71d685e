// run: count_device block=64 grid=3 args(n=int32[1]:zeros) seeds=3 expect=clean
// run: count_system block=64 grid=3 args(n=int32[1]:zeros) seeds=3 expect=clean
// run: count_block_across_blocks block=64 grid=3 args(n=int32[1]:zeros) seeds=3 expect=race lines 18,18 space global
// run: count_block_each_its_own block=64 grid=3 args(n=int32[3]:zeros) seeds=3 expect=clean
// run: count_mixed_scopes block=64 grid=2 args(n=int32[1]:zeros) seeds=3 expect=race lines 25,27 lines 27,27 space global
// run: count_mixed_one_block block=64 grid=1 args(n=int32[1]:zeros) seeds=3 expect=clean
//
// Atomics do not race where the scope of each includes the thread of the other.

__global__ void count_device(int* n) { atomicAdd(n, 1); }

__global__ void count_system(int* n) {
    if (blockIdx.x == 0) atomicAdd_system(n, 1);
    else atomicAdd(n, 1);
}

__global__ void count_block_across_blocks(int* n) {
    atomicAdd_block(n, 1);
}

__global__ void count_block_each_its_own(int* n) { atomicAdd_block(&n[blockIdx.x], 1); }

__global__ void count_mixed_scopes(int* n) {
    if (threadIdx.x < 32) {
        atomicAdd(n, 1);
    } else {
        atomicAdd_block(n, 1);
    }
}

__global__ void count_mixed_one_block(int* n) {
    if (threadIdx.x < 32) atomicAdd(n, 1);
    else atomicAdd_block(n, 1);
}
