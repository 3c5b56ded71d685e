// expect: extents_any race=proved divergence=proved
// expect: extents_any silent
// expect: extents_any assumes in-bounds
// expect: constant_block_any race=proved divergence=proved
// expect: constant_block_any silent
// expect: constant_block_any precondition "blockDim.x <= 256"
// expect: two_each_any race=proved divergence=proved
// expect: two_each_any silent
// expect: two_each_any precondition "blockDim.x <= 128"
// expect: two_each_overlap_any race=race divergence=proved
// expect: two_each_overlap_any finding race/global error on a lines 59
// expect: instance_any<128> race=proved divergence=proved
// expect: instance_any<128> silent
// expect: instance_any<128> precondition "blockDim.x <= 128"
// expect: instance_no_barrier_any<128> race=race divergence=proved
// expect: instance_no_barrier_any<128> finding race/shared error on s lines 70,71
// expect: bounded_warp_any race=proved divergence=proved
// expect: bounded_warp_any silent
// expect: bounded_warps_any race=race divergence=proved
// expect: bounded_warps_any finding race/shared error on s lines 88,90
// expect: rank_leader_any race=proved divergence=proved
// expect: rank_leader_any silent
// expect: rank_leader_any precondition "blockDim.y == 1"
// expect: row_leader_any race=race divergence=proved
// expect: row_leader_any finding race/global error on out lines 118
// expect: one_block_any race=proved divergence=proved
// expect: one_block_any silent
// expect: one_block_any assumes launch
// expect: several_blocks_any race=race divergence=proved
// expect: several_blocks_any finding race/global error on out lines 153
// expect: columns_by_warp_any race=race divergence=proved
// expect: columns_by_warp_any finding race/global warning on out lines 170 when "blockDim.x < 32"
// expect: reduce_columns_any<(Operation)0> race=proved divergence=proved
// expect: reduce_columns_any<(Operation)0> silent

// A larger block would leave the first array and reach the second.
__global__ void extents_any(float* a) {
    __shared__ float s[128], r[128];
    int t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
    s[t] = a[i];
    r[t] = 2.0f * a[i];
    a[i] = s[t] + r[t];
}

// Blocks of 256 elements suggest blocks of 256 threads; the last threads of larger ones race with the next block.
__global__ void constant_block_any(float* a) {
    a[blockIdx.x * 256 + threadIdx.x] *= 2.0f;
}

__global__ void two_each_any(float* a) {
    a[blockIdx.x * 256 + 2 * threadIdx.x] *= 2.0f;
    a[blockIdx.x * 256 + 2 * threadIdx.x + 1] *= 2.0f;
}

// A thread takes an element too many.
__global__ void two_each_overlap_any(float* a) {
    float* mine = a + blockIdx.x * 256 + 2 * threadIdx.x;
    for (int k = 0; k <= 2; k++)
        mine[k] *= 2.0f;
}

template <int Block> __global__ void instance_any(float* a, int n) {
    for (int i = threadIdx.x; i < n; i += Block)
        a[blockIdx.x * n + i] *= 2.0f;
}
template __global__ void instance_any<128>(float*, int);

template <int Block> __global__ void instance_no_barrier_any(float* a) {
    __shared__ float s[Block];
    s[threadIdx.x] = a[blockIdx.x * Block + threadIdx.x];
    a[blockIdx.x * Block + threadIdx.x] = s[Block - 1 - threadIdx.x];
}
template __global__ void instance_no_barrier_any<128>(float*);

// At most one warp, so its barrier is enough.
__global__ void __launch_bounds__(32) bounded_warp_any(float* a) {
    __shared__ float s[32];
    int t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
    s[t] = a[i];
    __syncwarp();
    a[i] = s[blockDim.x - 1 - t];
}

// Up to four warps, and a barrier of one.
__global__ void __launch_bounds__(128) bounded_warps_any(float* a) {
    __shared__ float s[128];
    int t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
    s[t] = a[i];
    __syncwarp();
    a[i] = s[blockDim.x - 1 - t];
}

// Only the rank in the block needs blockDim.y, which is therefore 1. Otherwise each row would have a thread 0.
__global__ void rank_leader_any(float* out, const float* in) {
    __shared__ float s[256];
    int rank = threadIdx.y * blockDim.x + threadIdx.x;
    s[rank] = in[blockIdx.x * 256 + rank];
    __syncthreads();
    for (int d = 128; d > 0; d /= 2) {
        if (rank < d)
            s[rank] += s[rank + d];
        __syncthreads();
    }
    if (threadIdx.x == 0)
        out[blockIdx.x] = s[rank];
}

// The tile has rows, and each row has a thread 0 with another value.
__global__ void row_leader_any(float* out, const float* in) {
    __shared__ float tile[8][32];
    int x = threadIdx.x, y = threadIdx.y;
    tile[y][x] = in[(blockIdx.x * 8 + y) * 32 + x];
    __syncthreads();
    if (x == 0) {
        float sum = 0.0f;
        for (int k = 0; k < 32; k++)
            sum += tile[y][k];
        out[blockIdx.x] = sum;
    }
}

// It reads no blockIdx, so one block is all that a launch can want.
__global__ void one_block_any(float* out, const float* in, int n) {
    __shared__ float s[256];
    float sum = 0.0f;
    for (int i = threadIdx.x; i < n; i += blockDim.x)
        sum += in[i];
    s[threadIdx.x] = sum;
    __syncthreads();
    for (int d = blockDim.x / 2; d > 0; d /= 2) {
        if (threadIdx.x < d)
            s[threadIdx.x] += s[threadIdx.x + d];
        __syncthreads();
    }
    if (threadIdx.x == 0)
        *out = s[0];
}

// It reads blockIdx, so there are several blocks, and each stores a separate sum.
__global__ void several_blocks_any(float* out, const float* in, int n) {
    __shared__ float s[256];
    float sum = 0.0f;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        sum += in[i];
    s[threadIdx.x] = sum;
    __syncthreads();
    for (int d = blockDim.x / 2; d > 0; d /= 2) {
        if (threadIdx.x < d)
            s[threadIdx.x] += s[threadIdx.x + d];
        __syncthreads();
    }
    if (threadIdx.x == 0)
        *out = s[0];
}

// The first warp of the block stores a column for each thread of a row: rows are whole warps.
__global__ void columns_by_warp_any(float* out, const float* in, int rows, int columns) {
    __shared__ float s[256];
    int j = blockIdx.x * blockDim.x + threadIdx.x, t = threadIdx.y * blockDim.x + threadIdx.x;
    float sum = 0.0f;
    for (int i = threadIdx.y; j < columns && i < rows; i += blockDim.y)
        sum += in[i * columns + j];
    s[t] = sum;
    for (int k = 128; k >= 32; k /= 2) {
        __syncthreads();
        if (t < k)
            s[t] += s[t + k];
    }
    if (t < 32 && j < columns)
        out[j] = s[t];
}

// An enumerator among the template arguments is not an extent.
enum Operation { Sum, Product };

template <Operation operation>
__global__ void reduce_columns_any(float* out, const float* in, int rows, int columns) {
    extern __shared__ float parts[];
    int j = blockIdx.x * blockDim.x + threadIdx.x;
    float value = operation == Sum ? 0 : 1;
    for (int i = threadIdx.y; j < columns && i < rows; i += blockDim.y)
        value = operation == Sum ? value + in[i * columns + j] : value * in[i * columns + j];
    parts[threadIdx.y * blockDim.x + threadIdx.x] = value;
    __syncthreads();
    if (threadIdx.y == 0 && j < columns) {
        for (int k = 1; k < blockDim.y; k++)
            value = operation == Sum ? value + parts[k * blockDim.x + threadIdx.x] : value * parts[k * blockDim.x + threadIdx.x];
        out[j] = value;
    }
}
template __global__ void reduce_columns_any<Sum>(float*, const float*, int, int);

// The lane is stored, which is a rank: no row is read.
// expect: lanes_any race=proved divergence=proved
// expect: lanes_any silent
// expect: lanes_any precondition "blockDim.y == 1"
// expect: lanes_any precondition "blockDim.z == 1"
__global__ void lanes_any(int* out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x, lane;
    asm("mov.u32 %0, %%laneid;" : "=r"(lane));
    if (i < n)
        out[i] = lane;
}
