// let: graph offsets=int32[17]:[0,5,5,8,15,16,20,22,25,27,33,33,37,38,41,43,48], targets=int32[48]:[5,6,10,11,12,0,9,15,0,2,4,8,11,13,14,1,3,6,7,8,1,9,0,3,10,3,12,1,2,4,6,13,15,2,7,9,14,2,0,2,14,3,12,2,3,4,5,13]
// let: values value=int32[16]:[13,35,57,44,41,14,12,45,59,25,20,2,24,27,11,10], n=16
// run: union_thread block=8 grid=2 args(graph, parent=int32[16]:iota, n=16) seeds=3 expect=clean
// run: union_thread_plain_find block=8 grid=2 args(graph, parent=int32[16]:iota, n=16) seeds=3 expect=race lines 44,46 lines 45,46 space global
// run: union_thread_missing_atomic block=8 grid=2 args(graph, parent=int32[16]:iota, n=16) seeds=3 expect=race lines 56,57 space global
// run: union_warp block=64 grid=8 args(graph, parent=int32[16]:iota, n=16) seeds=3 expect=clean
// run: compress_block block=64 args(parent=int32[64]:[0,0,1,2,3,4,5,6,7,8], label=int32[64]:zeros) seeds=3 expect=clean
// run: compress_block_missing_barrier block=64 args(parent=int32[64]:[0,0,1,2,3,4,5,6,7,8], label=int32[64]:zeros) seeds=3 expect=race lines 80,81 space global
// run: compress_block_plain block=64 args(parent=int32[64]:[0,0,1,2,3,4,5,6,7,8], label=int32[64]:zeros) seeds=3 expect=race lines 86,87 space global
//
// Union-find with path halving: larger roots are attached to smaller ones, and paths are shortened by each search.

__device__ int find(volatile int* parent, int v) {
    for (int p = parent[v]; p != v; p = parent[v]) {
        const int up = parent[p];
        if (up != p) parent[v] = up;
        v = up;
    }
    return v;
}

__device__ void join(int* parent, int a, int b) {
    for (;;) {
        a = find(parent, a);
        b = find(parent, b);
        if (a == b) return;
        const int high = max(a, b), low = min(a, b);
        if (atomicCAS(&parent[high], high, low) == high) return;
    }
}

__global__ void union_thread(const int* offsets, const int* targets, int* parent, int n) {
    const int v = blockIdx.x * blockDim.x + threadIdx.x;
    if (v >= n) return;
    for (int e = offsets[v]; e < offsets[v + 1]; e++) join(parent, v, targets[e]);
}

// The search reads plainly what others hang elsewhere.
__global__ void union_thread_plain_find(const int* offsets, const int* targets, int* parent, int n) {
    const int v = blockIdx.x * blockDim.x + threadIdx.x;
    if (v >= n) return;
    for (int e = offsets[v]; e < offsets[v + 1]; e++) {
        int a = v, b = targets[e];
        while (parent[a] != a) a = parent[a];
        while (parent[b] != b) b = parent[b];
        if (a != b) atomicCAS(&parent[max(a, b)], max(a, b), min(a, b));
    }
}

__global__ void union_thread_missing_atomic(const int* offsets, const int* targets, int* parent, int n) {
    const int v = blockIdx.x * blockDim.x + threadIdx.x;
    if (v >= n) return;
    for (int e = offsets[v]; e < offsets[v + 1]; e++) {
        volatile int* above = parent;
        int a = v, b = targets[e];
        while (above[a] != a || above[b] != b) a = above[a], b = above[b];
        if (a != b) parent[max(a, b)] = min(a, b);
    }
}

__global__ void union_warp(const int* offsets, const int* targets, int* parent, int n) {
    const int v = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x & 31;
    if (v >= n) return;
    for (int e = offsets[v] + lane; e < offsets[v + 1]; e += 32) join(parent, v, targets[e]);
}

__global__ void compress_block(int* parent, int* label) {
    const int v = threadIdx.x;
    const int root = find(parent, v);
    __syncthreads();
    parent[v] = root;
    __syncthreads();
    label[v] = parent[63 - v];
}

__global__ void compress_block_missing_barrier(int* parent, int* label) {
    const int v = threadIdx.x;
    const int root = find(parent, v);
    __syncthreads();
    parent[v] = root;
    label[v] = parent[63 - v];
}

__global__ void compress_block_plain(int* parent, int* label) {
    int v = threadIdx.x;
    while (parent[v] != v) v = parent[v];
    parent[threadIdx.x] = v;
    label[threadIdx.x] = v;
}
