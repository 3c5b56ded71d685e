// let: graph offsets=int32[17]:[0,5,5,8,15,16,20,22,25,27,33,33,37,38,41,43,48], targets=int32[48]:[5,6,10,11,12,0,9,15,0,2,4,8,11,13,14,1,3,6,7,8,1,9,0,3,10,3,12,1,2,4,6,13,15,2,7,9,14,2,0,2,14,3,12,2,3,4,5,13]
// let: values value=int32[16]:[13,35,57,44,41,14,12,45,59,25,20,2,24,27,11,10], n=16
// run: vertex_update_thread block=8 grid=2 args(graph, values, result=int32[2]:zeros) seeds=3 expect=clean
// run: vertex_update_thread_missing_atomic block=8 grid=2 args(graph, values, result=int32[2]:zeros) seeds=3 expect=race lines 36,36 space global
// run: vertex_update_thread_unguarded_read block=8 grid=2 args(graph, values, result=int32[2]:zeros) seeds=3 expect=race lines 46,47 space global
// run: vertex_update_warp block=64 grid=8 args(graph, values, result=int32[2]:zeros) seeds=3 expect=clean
// run: vertex_update_warp_missing_atomic block=64 grid=8 args(graph, values, result=int32[2]:zeros) seeds=3 expect=race lines 67,67 space global
// run: vertex_update_warp_unguarded_read block=64 grid=8 args(graph, values, result=int32[2]:zeros) seeds=3 expect=race lines 77,78 space global
// run: vertex_update_block block=64 grid=16 args(graph, values, result=int32[2]:zeros) seeds=3 expect=clean
// run: vertex_update_block_missing_atomic block=64 grid=16 args(graph, values, result=int32[2]:zeros) seeds=3 expect=race lines 104,104 space global
// run: vertex_update_block_missing_barrier block=64 grid=16 args(graph, values, result=int32[2]:zeros) seeds=3 expect=race lines 115,117 space shared
//
// Conditional vertex update: vertices that are smaller than a neighbour are counted, and the largest such neighbour kept.

__device__ int largest_neighbour(const int* offsets, const int* targets, const int* value, int v, int first, int step) {
    int best = -1;
    for (int e = offsets[v] + first; e < offsets[v + 1]; e += step) best = max(best, value[targets[e]]);
    return best;
}

__global__ void vertex_update_thread(const int* offsets, const int* targets, const int* value, int n, int* result) {
    const int v = blockIdx.x * blockDim.x + threadIdx.x;
    if (v >= n) return;
    const int best = largest_neighbour(offsets, targets, value, v, 0, 1);
    if (best > value[v]) {
        atomicAdd(&result[0], 1);
        atomicMax(&result[1], best);
    }
}

__global__ void vertex_update_thread_missing_atomic(const int* offsets, const int* targets, const int* value, int n, int* result) {
    const int v = blockIdx.x * blockDim.x + threadIdx.x;
    if (v >= n) return;
    const int best = largest_neighbour(offsets, targets, value, v, 0, 1);
    if (best > value[v]) {
        result[0]++;
        atomicMax(&result[1], best);
    }
}

__global__ void vertex_update_thread_unguarded_read(const int* offsets, const int* targets, const int* value, int n, int* result) {
    const int v = blockIdx.x * blockDim.x + threadIdx.x;
    if (v >= n) return;
    const int best = largest_neighbour(offsets, targets, value, v, 0, 1);
    if (best > value[v]) {
        if (result[0] < 100) {
            atomicAdd(&result[0], 1);
        }
    }
}

__global__ void vertex_update_warp(const int* offsets, const int* targets, const int* value, int n, int* result) {
    const int v = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x & 31;
    if (v >= n) return;
    const int best = __reduce_max_sync(0xffffffffu, largest_neighbour(offsets, targets, value, v, lane, 32));
    if (lane == 0 && best > value[v]) {
        atomicAdd(&result[0], 1);
        atomicMax(&result[1], best);
    }
}

__global__ void vertex_update_warp_missing_atomic(const int* offsets, const int* targets, const int* value, int n, int* result) {
    const int v = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x & 31;
    if (v >= n) return;
    const int best = __reduce_max_sync(0xffffffffu, largest_neighbour(offsets, targets, value, v, lane, 32));
    if (lane == 0 && best > value[v]) {
        result[0] += 1;
        atomicMax(&result[1], best);
    }
}

__global__ void vertex_update_warp_unguarded_read(const int* offsets, const int* targets, const int* value, int n, int* result) {
    const int v = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x & 31;
    if (v >= n) return;
    const int best = __reduce_max_sync(0xffffffffu, largest_neighbour(offsets, targets, value, v, lane, 32));
    if (lane == 0 && best > value[v]) {
        if (result[0] < 100) {
            atomicAdd(&result[0], 1);
        }
    }
}

__global__ void vertex_update_block(const int* offsets, const int* targets, const int* value, int n, int* result) {
    __shared__ int best;
    const int v = blockIdx.x;
    if (threadIdx.x == 0) best = -1;
    __syncthreads();
    atomicMax(&best, largest_neighbour(offsets, targets, value, v, threadIdx.x, blockDim.x));
    __syncthreads();
    if (threadIdx.x == 0 && best > value[v]) {
        atomicAdd(&result[0], 1);
        atomicMax(&result[1], best);
    }
}

__global__ void vertex_update_block_missing_atomic(const int* offsets, const int* targets, const int* value, int n, int* result) {
    __shared__ int best;
    const int v = blockIdx.x;
    if (threadIdx.x == 0) best = -1;
    __syncthreads();
    atomicMax(&best, largest_neighbour(offsets, targets, value, v, threadIdx.x, blockDim.x));
    __syncthreads();
    if (threadIdx.x == 0 && best > value[v]) {
        result[0] += 1;
        atomicMax(&result[1], best);
    }
}

__global__ void vertex_update_block_missing_barrier(const int* offsets, const int* targets, const int* value, int n, int* result) {
    __shared__ int best;
    const int v = blockIdx.x;
    if (threadIdx.x == 0) best = -1;
    __syncthreads();
    const int mine = largest_neighbour(offsets, targets, value, v, threadIdx.x, blockDim.x);
    atomicMax(&best, mine);
    if (threadIdx.x == 0) {
        const int found = best;
        if (found > value[v]) atomicAdd(&result[0], 1);
    }
}
