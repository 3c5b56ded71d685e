// let: graph offsets=int32[17]:[0,5,5,8,15,16,20,22,25,27,33,33,37,38,41,43,48], targets=int32[48]:[5,6,10,11,12,0,9,15,0,2,4,8,11,13,14,1,3,6,7,8,1,9,0,3,10,3,12,1,2,4,6,13,15,2,7,9,14,2,0,2,14,3,12,2,3,4,5,13]
// let: values value=int32[16]:[13,35,57,44,41,14,12,45,59,25,20,2,24,27,11,10], n=16
// run: edge_update_thread block=8 grid=2 args(graph, values, result=int32[1]:zeros) seeds=3 expect=clean
// run: edge_update_thread_missing_atomic block=8 grid=2 args(graph, values, result=int32[1]:zeros) seeds=3 expect=race lines 25,25 space global
// run: edge_update_thread_unguarded_read block=8 grid=2 args(graph, values, result=int32[1]:zeros) seeds=3 expect=race lines 32,33 space global
// run: edge_update_warp block=64 grid=8 args(graph, values, result=int32[1]:zeros) seeds=3 expect=clean
// run: edge_update_warp_missing_atomic block=64 grid=8 args(graph, values, result=int32[1]:zeros) seeds=3 expect=race lines 55,55 space global
// run: edge_update_block block=64 grid=16 args(graph, values, result=int32[1]:zeros) seeds=3 expect=clean
// run: edge_update_block_missing_barrier block=64 grid=16 args(graph, values, result=int32[1]:zeros) seeds=3 expect=race lines 73,76 space shared
// run: edge_update_block_missing_atomic block=64 grid=16 args(graph, values, result=int32[1]:zeros) seeds=3 expect=race lines 87,87 space shared
//
// Conditional edge update: the edges that lead to a larger value are counted.

__global__ void edge_update_thread(const int* offsets, const int* targets, const int* value, int n, int* result) {
    const int v = blockIdx.x * blockDim.x + threadIdx.x;
    if (v >= n) return;
    for (int e = offsets[v]; e < offsets[v + 1]; e++)
        if (value[targets[e]] > value[v]) atomicAdd(result, 1);
}

__global__ void edge_update_thread_missing_atomic(const int* offsets, const int* targets, const int* value, int n, int* result) {
    const int v = blockIdx.x * blockDim.x + threadIdx.x;
    if (v >= n) return;
    for (int e = offsets[v]; e < offsets[v + 1]; e++)
        if (value[targets[e]] > value[v]) *result += 1;
}

__global__ void edge_update_thread_unguarded_read(const int* offsets, const int* targets, const int* value, int n, int* result) {
    const int v = blockIdx.x * blockDim.x + threadIdx.x;
    if (v >= n) return;
    for (int e = offsets[v]; e < offsets[v + 1]; e++) {
        if (*result < 1000) {
            if (value[targets[e]] > value[v]) atomicAdd(result, 1);
        }
    }
}

// All lanes execute each iteration, those past the last edge without one.
__global__ void edge_update_warp(const int* offsets, const int* targets, const int* value, int n, int* result) {
    const int v = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x & 31;
    if (v >= n) return;
    int count = 0;
    for (int first = offsets[v]; first < offsets[v + 1]; first += 32) {
        const int e = first + lane;
        const bool larger = e < offsets[v + 1] && value[targets[e]] > value[v];
        count += __popc(__ballot_sync(0xffffffffu, larger));
    }
    if (lane == 0 && count > 0) atomicAdd(result, count);
}

__global__ void edge_update_warp_missing_atomic(const int* offsets, const int* targets, const int* value, int n, int* result) {
    const int v = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x & 31;
    if (v >= n) return;
    for (int e = offsets[v] + lane; e < offsets[v + 1]; e += 32)
        if (value[targets[e]] > value[v]) *result += 1;
}

__global__ void edge_update_block(const int* offsets, const int* targets, const int* value, int n, int* result) {
    __shared__ int count;
    const int v = blockIdx.x;
    if (threadIdx.x == 0) count = 0;
    __syncthreads();
    for (int e = offsets[v] + threadIdx.x; e < offsets[v + 1]; e += blockDim.x)
        if (value[targets[e]] > value[v]) atomicAdd(&count, 1);
    __syncthreads();
    if (threadIdx.x == 0 && count > 0) atomicAdd(result, count);
}

__global__ void edge_update_block_missing_barrier(const int* offsets, const int* targets, const int* value, int n, int* result) {
    __shared__ int count;
    const int v = blockIdx.x;
    if (threadIdx.x == 0) {
        count = 0;
    }
    for (int e = offsets[v] + threadIdx.x; e < offsets[v + 1]; e += blockDim.x)
        if (value[targets[e]] > value[v]) atomicAdd(&count, 1);
    __syncthreads();
    if (threadIdx.x == 0 && count > 0) atomicAdd(result, count);
}

__global__ void edge_update_block_missing_atomic(const int* offsets, const int* targets, const int* value, int n, int* result) {
    __shared__ int count;
    const int v = blockIdx.x;
    if (threadIdx.x == 0) count = 0;
    __syncthreads();
    for (int e = offsets[v] + threadIdx.x; e < offsets[v + 1]; e += blockDim.x)
        if (value[targets[e]] > value[v]) count++;
    __syncthreads();
    if (threadIdx.x == 0 && count > 0) atomicAdd(result, count);
}
