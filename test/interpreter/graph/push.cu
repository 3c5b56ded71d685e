// let: graph offsets=int32[17]:[0,5,5,8,15,16,20,22,25,27,33,33,37,38,41,43,48], targets=int32[48]:[5,6,10,11,12,0,9,15,0,2,4,8,11,13,14,1,3,6,7,8,1,9,0,3,10,3,12,1,2,4,6,13,15,2,7,9,14,2,0,2,14,3,12,2,3,4,5,13]
// let: values value=int32[16]:[13,35,57,44,41,14,12,45,59,25,20,2,24,27,11,10], n=16
// run: push_thread block=8 grid=2 args(graph, values, out=int32[16]:zeros) seeds=3 expect=clean
// run: push_thread_missing_atomic block=8 grid=2 args(graph, values, out=int32[16]:zeros) seeds=3 expect=race lines 23,23 space global
// run: push_thread_unguarded_read block=8 grid=2 args(graph, values, out=int32[16]:zeros) seeds=3 expect=race lines 30,31 space global
// run: push_warp block=64 grid=8 args(graph, values, out=int32[16]:zeros) seeds=3 expect=clean
// run: push_warp_missing_atomic block=64 grid=8 args(graph, values, out=int32[16]:zeros) seeds=3 expect=race lines 45,45 space global
// run: push_block block=64 grid=16 args(graph, values, out=int32[16]:zeros) seeds=3 expect=clean
// run: push_block_unguarded_read block=64 grid=16 args(graph, values, out=int32[16]:zeros) seeds=3 expect=race lines 56,57 space global
// run: push_block_scope block=64 grid=16 args(graph, values, out=int32[16]:zeros) seeds=3 expect=race lines 65,65 space global
//
// Push: every vertex adds its value to its neighbours.

__global__ void push_thread(const int* offsets, const int* targets, const int* value, int n, int* out) {
    const int v = blockIdx.x * blockDim.x + threadIdx.x;
    if (v >= n) return;
    for (int e = offsets[v]; e < offsets[v + 1]; e++) atomicAdd(&out[targets[e]], value[v]);
}

__global__ void push_thread_missing_atomic(const int* offsets, const int* targets, const int* value, int n, int* out) {
    const int v = blockIdx.x * blockDim.x + threadIdx.x;
    if (v >= n) return;
    for (int e = offsets[v]; e < offsets[v + 1]; e++) out[targets[e]] += value[v];
}

__global__ void push_thread_unguarded_read(const int* offsets, const int* targets, const int* value, int n, int* out) {
    const int v = blockIdx.x * blockDim.x + threadIdx.x;
    if (v >= n) return;
    for (int e = offsets[v]; e < offsets[v + 1]; e++) {
        if (out[targets[e]] < 1000) {
            atomicAdd(&out[targets[e]], value[v]);
        }
    }
}

__global__ void push_warp(const int* offsets, const int* targets, const int* value, int n, int* out) {
    const int v = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x & 31;
    if (v >= n) return;
    for (int e = offsets[v] + lane; e < offsets[v + 1]; e += 32) atomicAdd(&out[targets[e]], value[v]);
}

__global__ void push_warp_missing_atomic(const int* offsets, const int* targets, const int* value, int n, int* out) {
    const int v = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x & 31;
    if (v >= n) return;
    for (int e = offsets[v] + lane; e < offsets[v + 1]; e += 32) out[targets[e]] += value[v];
}

__global__ void push_block(const int* offsets, const int* targets, const int* value, int n, int* out) {
    const int v = blockIdx.x;
    for (int e = offsets[v] + threadIdx.x; e < offsets[v + 1]; e += blockDim.x) atomicAdd(&out[targets[e]], value[v]);
}

__global__ void push_block_unguarded_read(const int* offsets, const int* targets, const int* value, int n, int* out) {
    const int v = blockIdx.x;
    for (int e = offsets[v] + threadIdx.x; e < offsets[v + 1]; e += blockDim.x) {
        if (out[targets[e]] < 1000) {
            atomicAdd(&out[targets[e]], value[v]);
        }
    }
}

__global__ void push_block_scope(const int* offsets, const int* targets, const int* value, int n, int* out) {
    const int v = blockIdx.x;
    for (int e = offsets[v] + threadIdx.x; e < offsets[v + 1]; e += blockDim.x)
        atomicAdd_block(&out[targets[e]], value[v]);
}
