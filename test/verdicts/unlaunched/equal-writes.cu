// expect: flag_any race=proved divergence=proved
// expect: flag_any silent
// expect: flag_any assumes equal-value-writes
// expect: flag_any finding race/global notice on bad lines 24
// expect: flag_read_any race=race divergence=proved
// expect: flag_read_any finding race/global error on bad lines 31,32
// expect: two_literals_any race=race divergence=proved
// expect: two_literals_any finding race/global error on state lines 39
// expect: owner_any race=race divergence=proved
// expect: owner_any finding race/global error on owner lines 46
// expect: mean_all_any race=race divergence=proved
// expect: mean_all_any finding race/global warning on mean lines 51
// expect: mean_leader_any race=proved divergence=proved
// expect: mean_leader_any silent
// expect: row_of_each_warp race=race divergence=proved
// expect: row_of_each_warp finding race/shared warning on copy lines 69
// expect: other_row_of_each_warp race=race divergence=proved
// expect: other_row_of_each_warp finding race/shared error on copy lines 80

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

// No number decides whether two threads meet.
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

// Each warp stores the row that all of them read, as a change of layout does where it repeats what a tile holds.
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
