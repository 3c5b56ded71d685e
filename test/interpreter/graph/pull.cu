// let: graph offsets=int32[17]:[0,5,5,8,15,16,20,22,25,27,33,33,37,38,41,43,48], targets=int32[48]:[5,6,10,11,12,0,9,15,0,2,4,8,11,13,14,1,3,6,7,8,1,9,0,3,10,3,12,1,2,4,6,13,15,2,7,9,14,2,0,2,14,3,12,2,3,4,5,13]
// let: values value=int32[16]:[13,35,57,44,41,14,12,45,59,25,20,2,24,27,11,10], n=16
// run: pull_thread block=8 grid=2 args(graph, values, out=int32[16]:zeros) expect=clean
// run: pull_thread_in_place block=8 grid=2 args(graph, values) expect=race lines 26,27 space global
// run: pull_warp block=64 grid=8 args(graph, values, out=int32[16]:zeros) expect=clean
// run: pull_warp_missing_atomic block=64 grid=8 args(graph, values, out=int32[16]:zeros) expect=race lines 42,42 space global
// run: pull_warp_in_place block=64 grid=8 args(graph, values) expect=race lines 49,52 space global
// run: pull_block block=64 grid=16 args(graph, values, out=int32[16]:zeros) expect=clean
// run: pull_block_missing_barrier block=64 grid=16 args(graph, values, out=int32[16]:zeros) expect=race lines 73,75 space shared; uninitialised line 75
// run: pull_block_missing_atomic block=64 grid=16 args(graph, values, out=int32[16]:zeros) expect=race lines 88,88 space shared
//
// Pull: every vertex takes the sum of its neighbours' values.

__global__ void pull_thread(const int* offsets, const int* targets, const int* value, int n, int* out) {
    const int v = blockIdx.x * blockDim.x + threadIdx.x;
    if (v >= n) return;
    int sum = 0;
    for (int e = offsets[v]; e < offsets[v + 1]; e++) sum += value[targets[e]];
    out[v] = sum;
}

__global__ void pull_thread_in_place(const int* offsets, const int* targets, int* value, int n) {
    const int v = blockIdx.x * blockDim.x + threadIdx.x;
    if (v >= n) return;
    int sum = 0;
    for (int e = offsets[v]; e < offsets[v + 1]; e++) sum += value[targets[e]];
    value[v] = sum;
}

__global__ void pull_warp(const int* offsets, const int* targets, const int* value, int n, int* out) {
    const int v = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x & 31;
    if (v >= n) return;
    int sum = 0;
    for (int e = offsets[v] + lane; e < offsets[v + 1]; e += 32) sum += value[targets[e]];
    for (int d = 16; d > 0; d >>= 1) sum += __shfl_down_sync(0xffffffffu, sum, d);
    if (lane == 0) out[v] = sum;
}

__global__ void pull_warp_missing_atomic(const int* offsets, const int* targets, const int* value, int n, int* out) {
    const int v = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x & 31;
    if (v >= n) return;
    for (int e = offsets[v] + lane; e < offsets[v + 1]; e += 32) out[v] += value[targets[e]];
}

__global__ void pull_warp_in_place(const int* offsets, const int* targets, int* value, int n) {
    const int v = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x & 31;
    if (v >= n) return;
    int sum = 0;
    for (int e = offsets[v] + lane; e < offsets[v + 1]; e += 32) sum += value[targets[e]];
    for (int d = 16; d > 0; d >>= 1) sum += __shfl_down_sync(0xffffffffu, sum, d);
    __syncwarp();
    if (lane == 0) value[v] = sum;
}

__global__ void pull_block(const int* offsets, const int* targets, const int* value, int n, int* out) {
    __shared__ int s[64];
    const int v = blockIdx.x, t = threadIdx.x;
    s[t] = 0;
    for (int e = offsets[v] + t; e < offsets[v + 1]; e += 64) s[t] += value[targets[e]];
    __syncthreads();
    for (int d = 32; d > 0; d >>= 1) {
        if (t < d) s[t] += s[t + d];
        __syncthreads();
    }
    if (t == 0) out[v] = s[0];
}

__global__ void pull_block_missing_barrier(const int* offsets, const int* targets, const int* value, int n, int* out) {
    __shared__ int s[64];
    const int v = blockIdx.x, t = threadIdx.x;
    int sum = 0;
    for (int e = offsets[v] + t; e < offsets[v + 1]; e += 64) sum += value[targets[e]];
    s[t] = sum;
    for (int d = 32; d > 0; d >>= 1) {
        if (t < d) sum += s[t + d];
        __syncthreads();
        if (t < d) s[t] = sum;
        __syncthreads();
    }
    if (t == 0) out[v] = s[0];
}

__global__ void pull_block_missing_atomic(const int* offsets, const int* targets, const int* value, int n, int* out) {
    __shared__ int sum;
    const int v = blockIdx.x, t = threadIdx.x;
    if (t == 0) sum = 0;
    __syncthreads();
    for (int e = offsets[v] + t; e < offsets[v + 1]; e += 64) sum += value[targets[e]];
    __syncthreads();
    if (t == 0) out[v] = sum;
}
