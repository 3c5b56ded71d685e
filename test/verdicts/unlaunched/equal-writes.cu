// expect: flag_any race=proved divergence=proved
// expect: flag_any silent
// expect: flag_any assumes equal-value-writes
// expect: flag_any finding race/global notice on bad lines 33
// expect: flag_read_any race=race divergence=proved
// expect: flag_read_any finding race/global error on bad lines 40,41
// expect: two_literals_any race=race divergence=proved
// expect: two_literals_any finding race/global error on state lines 48
// expect: owner_any race=race divergence=proved
// expect: owner_any finding race/global error on owner lines 55
// expect: mean_all_any race=race divergence=proved
// expect: mean_all_any finding race/global warning on mean lines 60
// expect: mean_leader_any race=proved divergence=proved
// expect: mean_leader_any silent
// expect: row_of_each_warp race=race divergence=proved
// expect: row_of_each_warp finding race/shared warning on copy lines 78
// expect: other_row_of_each_warp race=race divergence=proved
// expect: other_row_of_each_warp finding race/shared error on copy lines 89
// expect: changed_between_reads race=race divergence=proved
// expect: changed_between_reads finding race/shared error on copy lines 105
// expect: changed_unordered race=race divergence=proved
// expect: changed_unordered finding race/shared warning on copy lines 117 when "blockDim.x > 32"
// expect: changed_unordered finding race/shared error on row lines 116,117
// expect: stored_behind_barrier race=race divergence=proved
// expect: stored_behind_barrier finding race/shared error on copy lines 133
// expect: rest_of_row race=possible divergence=proved
// expect: rest_of_row silent

// All that store store 1, and no thread reads it before the kernel ends.
__global__ void flag_any(int* bad, const float* in, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n && in[i] < 0.0f)
        *bad = 1;
}

// Whether an element is written depends on which thread is first.
__global__ void flag_read_any(int* bad, float* out, const float* in, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n && in[i] < 0.0f)
        *bad = 1;
    if (i < n && *bad == 0)
        out[i] = in[i];
}

__global__ void two_literals_any(int* state, const float* in, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        *state = in[i] < 0.0f ? 1 : 2;
}

// Two threads race for any arguments.
__device__ int owner;

__global__ void owner_any() {
    owner = threadIdx.x;
}

// All threads of a block store the mean of its row.
__global__ void mean_all_any(float* mean, float* a, const float* sum, int n) {
    mean[blockIdx.x] = sum[blockIdx.x] / n;
    for (int i = threadIdx.x; i < n; i += blockDim.x)
        a[blockIdx.x * n + i] -= sum[blockIdx.x] / n;
}

__global__ void mean_leader_any(float* mean, float* a, const float* sum, int n) {
    if (threadIdx.x == 0)
        mean[blockIdx.x] = sum[blockIdx.x] / n;
    for (int i = threadIdx.x; i < n; i += blockDim.x)
        a[blockIdx.x * n + i] -= sum[blockIdx.x] / n;
}

// Each warp stores the row that all of them read, as a change of layout does if it repeats the contents of a tile.
__global__ __launch_bounds__(128) void row_of_each_warp(float* out, const float* in) {
    __shared__ float row[32], copy[32];
    int t = threadIdx.x;
    if (t < 32) row[t] = in[blockIdx.x * 32 + t];
    __syncthreads();
    copy[t % 32] = row[t % 32];
    __syncthreads();
    if (t < 32) out[blockIdx.x * 32 + t] = copy[t];
}

// The warps read two rows.
__global__ __launch_bounds__(128) void other_row_of_each_warp(float* out, const float* in) {
    __shared__ float row[2][32], copy[32];
    int t = threadIdx.x;
    if (t < 64) row[t / 32][t % 32] = in[blockIdx.x * 64 + t];
    __syncthreads();
    copy[t % 32] = row[t / 32 % 2][t % 32];
    __syncthreads();
    if (t < 32) out[blockIdx.x * 32 + t] = copy[t];
}

// The two warps read their rows at different times: in between, the element that both read is changed.
__global__ __launch_bounds__(128) void changed_between_reads(float* out, const float* in) {
    __shared__ float row[32], copy[32];
    int t = threadIdx.x;
    if (t < 32) row[t] = in[blockIdx.x * 32 + t];
    __syncthreads();
    float early = row[t % 32];
    __syncthreads();
    if (t < 32) row[t] = in[blockIdx.x * 32 + t + 1];
    __syncthreads();
    float late = row[t % 32];
    copy[t % 32] = t < 64 ? early : late;
    __syncthreads();
    if (t < 32) out[blockIdx.x * 32 + t] = copy[t];
}

// Another warp stores to the row while it is read.
__global__ __launch_bounds__(128) void changed_unordered(float* out, const float* in) {
    __shared__ float row[32], copy[32];
    int t = threadIdx.x;
    if (t < 32) row[t] = in[blockIdx.x * 32 + t];
    __syncthreads();
    if (t >= 96) row[t - 96] = in[blockIdx.x * 128 + t];
    copy[t % 32] = row[t % 32];
    __syncthreads();
    if (t < 32) out[blockIdx.x * 32 + t] = copy[t];
}

// In each iteration one warp reads a new value; all warps store their last one after the barrier.
__global__ __launch_bounds__(128) void stored_behind_barrier(float* out, const float* in, int n) {
    __shared__ float row[32], copy[32];
    int t = threadIdx.x;
    float kept = 0.0f;
    for (int i = 0; i < n; i++) {
        if (t < 32) row[t] = in[i * 32 + t];
        __syncthreads();
        float read = row[t % 32];
        if (i % 4 == t / 32) kept = read;
        __syncthreads();
        copy[t % 32] = kept;
    }
    __syncthreads();
    if (t < 32) out[blockIdx.x * 32 + t] = copy[t];
}

// Only blocks of more threads than a row has elements store the remainder.
__global__ __launch_bounds__(128) void rest_of_row(float* out, const float* in) {
    __shared__ float row[32];
    int t = threadIdx.x;
    if (t < 32) row[t] = in[blockIdx.x * 32 + t];
    __syncthreads();
    if (t >= 96) row[t - 96] = in[blockIdx.x * 32 + t];
    out[blockIdx.x * 128 + t] = row[t % 32];
}
