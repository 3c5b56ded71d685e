// expect: scatter_any race=possible divergence=proved
// expect: scatter_any finding race/global notice on out lines 24
// expect: gather_any race=proved divergence=proved
// expect: gather_any silent
// expect: scatter_add_any race=race divergence=proved
// expect: scatter_add_any finding race/global warning on out lines 37
// expect: scatter_atomic_any race=proved divergence=proved
// expect: scatter_atomic_any silent
// expect: read_back_any race=race divergence=proved
// expect: read_back_any finding race/global warning on y lines 50,51
// expect: table_any race=proved divergence=proved
// expect: table_any silent
// expect: table_twice_any race=race divergence=proved
// expect: table_twice_any finding race/global error on out lines 68
// expect: find_key_any race=possible divergence=proved
// expect: find_key_any finding race/global notice on where lines 75
// expect: find_negative_any race=race divergence=proved
// expect: find_negative_any finding race/global error on where lines 82

// Correct if perm is a permutation, which is unspecified here.
__global__ void scatter_any(float* out, const float* in, const int* perm, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        out[perm[i]] = in[i];
}

__global__ void gather_any(float* out, const float* in, const int* perm, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        out[i] = in[perm[i]];
}

// Each thread loads and stores an element that the contents of index choose.
__global__ void scatter_add_any(float* out, const float* in, const int* index, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        out[index[i]] += in[i];
}

__global__ void scatter_atomic_any(float* out, const float* in, const int* index, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        atomicAdd(&out[index[i]], in[i]);
}

// A load whose address is read from memory races with the store of another thread.
__global__ void read_back_any(float* y, float* z, const float* x, const int* index, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        y[i] = 2.0f * x[i];
        z[i] = y[index[i]];
    }
}

// The contents of a table that is never written are known.
__device__ const int swapped[8] = {1, 0, 3, 2, 5, 4, 7, 6};
__device__ const int folded[8] = {0, 1, 2, 3, 3, 2, 1, 0};

__global__ void table_any(float* out, const float* in) {
    int t = threadIdx.x;
    if (t < 8)
        out[blockIdx.x * 8 + swapped[t]] = in[blockIdx.x * 8 + t];
}

__global__ void table_twice_any(float* out, const float* in) {
    int t = threadIdx.x;
    if (t < 8)
        out[blockIdx.x * 8 + folded[t]] = in[blockIdx.x * 8 + t];
}

// Two threads store only if two keys are equal to the one that is looked for.
__global__ void find_key_any(int* where, const int* key, int wanted, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n && key[i] == wanted)
        *where = i;
}

// Many values are negative.
__global__ void find_negative_any(int* where, const int* value, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n && value[i] < 0)
        *where = i;
}
