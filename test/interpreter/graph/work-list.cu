// let: graph offsets=int32[17]:[0,5,5,8,15,16,20,22,25,27,33,33,37,38,41,43,48], targets=int32[48]:[5,6,10,11,12,0,9,15,0,2,4,8,11,13,14,1,3,6,7,8,1,9,0,3,10,3,12,1,2,4,6,13,15,2,7,9,14,2,0,2,14,3,12,2,3,4,5,13]
// let: values value=int32[16]:[13,35,57,44,41,14,12,45,59,25,20,2,24,27,11,10], n=16
// run: append_thread block=8 grid=2 args(values, list=int32[16]:zeros, size=int32[1]:zeros) seeds=3 expect=clean
// run: append_thread_missing_atomic block=8 grid=2 args(values, list=int32[16]:zeros, size=int32[1]:zeros) seeds=3 expect=race lines 22,23 lines 23,23 space global
// run: append_thread_unguarded_read block=8 grid=2 args(values, list=int32[16]:zeros, size=int32[1]:zeros) seeds=3 expect=race lines 31,32 space global
// run: append_warp block=8 grid=2 args(values, list=int32[16]:zeros, size=int32[1]:zeros) seeds=3 expect=clean
// run: append_warp_missing_atomic block=8 grid=2 args(values, list=int32[16]:zeros, size=int32[1]:zeros) seeds=3 expect=race lines 55,56 lines 56,56 space global
// run: append_block block=8 grid=2 args(values, list=int32[16]:zeros, size=int32[1]:zeros) seeds=3 expect=clean
// run: append_block_missing_first_barrier block=8 grid=2 args(values, list=int32[16]:zeros, size=int32[1]:zeros) seeds=3 expect=race lines 82,84 space shared
// run: append_block_missing_last_barrier block=8 grid=2 args(values, list=int32[16]:zeros, size=int32[1]:zeros) seeds=3 expect=race lines 102,105 space shared
//
// Work-list: the vertices with an odd value are appended, one slot at a time, by warp or by block.

__global__ void append_thread(const int* value, int n, int* list, int* size) {
    const int v = blockIdx.x * blockDim.x + threadIdx.x;
    if (v < n && (value[v] & 1)) list[atomicAdd(size, 1)] = v;
}

__global__ void append_thread_missing_atomic(const int* value, int n, int* list, int* size) {
    const int v = blockIdx.x * blockDim.x + threadIdx.x;
    if (v < n && (value[v] & 1)) {
        const int slot = *size;
        *size = slot + 1;
        atomicExch(&list[slot], v);
    }
}

__global__ void append_thread_unguarded_read(const int* value, int n, int* list, int* size) {
    const int v = blockIdx.x * blockDim.x + threadIdx.x;
    if (v < n && (value[v] & 1)) {
        if (*size < 16) {
            const int slot = atomicAdd(size, 1);
            list[slot] = v;
        }
    }
}

// One lane reserves the slots of all.
__global__ void append_warp(const int* value, int n, int* list, int* size) {
    const int v = blockIdx.x * blockDim.x + threadIdx.x, lane = threadIdx.x & 31;
    const bool odd = v < n && (value[v] & 1);
    const unsigned lanes = __ballot_sync(0xffu, odd);
    int base = 0;
    if (lane == 0) base = atomicAdd(size, __popc(lanes));
    base = __shfl_sync(0xffu, base, 0);
    if (odd) list[base + __popc(lanes & ((1u << lane) - 1))] = v;
}

__global__ void append_warp_missing_atomic(const int* value, int n, int* list, int* size) {
    const int v = blockIdx.x * blockDim.x + threadIdx.x, lane = threadIdx.x & 31;
    const bool odd = v < n && (value[v] & 1);
    const unsigned lanes = __ballot_sync(0xffu, odd);
    int base = 0;
    if (lane == 0) {
        base = *size;
        *size = base + __popc(lanes);
    }
    base = __shfl_sync(0xffu, base, 0);
    if (odd) atomicExch(&list[base + __popc(lanes & ((1u << lane) - 1))], v);
}

__global__ void append_block(const int* value, int n, int* list, int* size) {
    __shared__ int count, base;
    const int v = blockIdx.x * blockDim.x + threadIdx.x;
    const bool odd = v < n && (value[v] & 1);
    int mine = 0;
    if (threadIdx.x == 0) count = 0;
    __syncthreads();
    if (odd) mine = atomicAdd(&count, 1);
    __syncthreads();
    if (threadIdx.x == 0) base = atomicAdd(size, count);
    __syncthreads();
    if (odd) list[base + mine] = v;
}

__global__ void append_block_missing_first_barrier(const int* value, int n, int* list, int* size) {
    __shared__ int count, base;
    const int v = blockIdx.x * blockDim.x + threadIdx.x;
    const bool odd = v < n && (value[v] & 1);
    int mine = 0;
    if (threadIdx.x == 0) {
        count = 0;
    }
    if (odd) mine = atomicAdd(&count, 1) & 7;
    __syncthreads();
    if (threadIdx.x == 0) base = atomicAdd(size, 8);
    __syncthreads();
    if (odd) atomicExch(&list[base + mine], v);
}

__global__ void append_block_missing_last_barrier(const int* value, int n, int* list, int* size) {
    __shared__ int count, base;
    const int v = blockIdx.x * blockDim.x + threadIdx.x;
    const bool odd = v < n && (value[v] & 1);
    int mine = 0;
    if (threadIdx.x == 0) count = base = 0;
    __syncthreads();
    if (odd) mine = atomicAdd(&count, 1);
    __syncthreads();
    if (threadIdx.x == 0) {
        const int reserved = atomicAdd(size, count);
        base = reserved;
    }
    if (odd) {
        const int first = base;
        atomicExch(&list[first + mine], v);
    }
}
