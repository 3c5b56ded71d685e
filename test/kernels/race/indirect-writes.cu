// expect: resample race=proved divergence=proved
// expect: scatter_distinct race=proved divergence=proved
// expect: scatter_add race=proved divergence=proved
// expect: search_and_copy race=proved divergence=proved
// expect: resample_in_place race=race divergence=proved finding race/global lines 53,53
// expect: scatter_any race=possible divergence=proved
// expect: scatter_sum race=race divergence=proved finding race/global lines 67,67
// expect: bucket_ends race=race divergence=proved finding race/global lines 75,75
//
// Indices from memory, as a particle filter has them: reading through them is safe, writing through them takes that no
// two are equal, or atomics.

__global__ void resample(const float* x, const int* index, float* out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        out[i] = x[index[i]];
}

// selvage: assume(distinct(index))
__global__ void scatter_distinct(const float* x, const int* index, float* out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        out[index[i]] = x[i];
}

__global__ void scatter_add(const float* x, const int* index, float* out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        atomicAdd(&out[index[i]], x[i]);
}

// The first place of the running sums that is not below one's own mark.
__global__ void search_and_copy(const float* x, const float* y, const float* sums, const float* marks, float* newX,
                                float* newY, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        int at = n - 1;
        for (int k = 0; k < n; ++k) {
            if (sums[k] >= marks[i]) {
                at = k;
                break;
            }
        }
        newX[i] = x[at];
        newY[i] = y[at];
    }
}

// selvage: block=64 grid=2 arg(n=128)
__global__ void resample_in_place(float* x, const int* index, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        x[i] = x[index[i]];
}

// selvage: block=64 grid=2 arg(n=128)
__global__ void scatter_any(const float* x, const int* index, float* out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        out[index[i]] = x[i];
}

// selvage: block=64 grid=2 arg(n=128)
__global__ void scatter_sum(const float* x, const int* index, float* out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        out[index[i]] += x[i];
}

// Whoever sees that the next key differs writes the end of its bucket, and everybody writes the last one.
// selvage: block=64 grid=2 arg(n=128)
__global__ void bucket_ends(const int* keys, int* ends, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        ends[keys[n - 1]] = i;
}
