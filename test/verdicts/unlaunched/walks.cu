// expect: deepest race=proved divergence=proved
// expect: deepest precondition "blockDim.x <= 32"
// expect: deepest precondition "depth <= 12"
// expect: deepest precondition "depth >= 1"
// expect: deepest silent
// expect: above_root race=race divergence=proved
// expect: above_root finding race/shared error on found lines 38,40
// expect: rounded_up race=proved divergence=proved
// expect: rounded_up silent
// expect: rounded_up_ahead race=race divergence=proved
// expect: rounded_up_ahead finding race/shared error on part lines 77
//
// Loop variables that go up and down, or are halved and rounded up.

// Each thread keeps the branches that are left on the path from the root in its own row.
__global__ void deepest(const int* tree, int* out, int depth) {
    __shared__ int left[32][12];
    int own = threadIdx.x, level = 0, seen = 0;
    left[own][0] = tree[blockIdx.x * 32 + own];
    while (level >= 0) {
        if (left[own][level] == 0)
            level--;
        else {
            left[own][level] &= left[own][level] - 1;
            seen = max(seen, level);
            if (level + 1 < depth)
                left[own][++level] = tree[seen + level];
        }
    }
    out[blockIdx.x * 32 + own] = seen;
}

// The walk passes the root, into the row of the thread before.
__global__ void above_root(const int* tree, int* out, int steps) {
    __shared__ int found[33][12];
    int own = threadIdx.x + 1, level = 0;
    for (int i = 0; i < 12; i++)
        found[own][i] = tree[i];
    for (int step = 0; step < steps; step++) {
        found[own][level] += step;
        if (tree[step] > 0)
            level -= level > -8 ? 2 : 0;
        else if (level < 11)
            level++;
    }
    out[blockIdx.x * blockDim.x + threadIdx.x] = found[own][0];
}

__global__ void rounded_up(const float* in, float* out, int n) {
    __shared__ float part[1024];
    float sum = 0.f;
    for (int i = threadIdx.x; i < n; i += blockDim.x)
        sum += in[i];
    part[threadIdx.x] = sum;
    for (int length = blockDim.x; length != 1;) {
        __syncthreads();
        int half = (length + 1) >> 1;
        if (threadIdx.x + half < length)
            part[threadIdx.x] += part[threadIdx.x + half];
        length = half;
    }
    if (threadIdx.x == 0)
        out[0] = part[0];
}

// A warp may be one step ahead of another one.
__global__ void rounded_up_ahead(const float* in, float* out, int n) {
    __shared__ float part[1024];
    float sum = 0.f;
    for (int i = threadIdx.x; i < n; i += blockDim.x)
        sum += in[i];
    part[threadIdx.x] = sum;
    __syncthreads();
    for (int length = blockDim.x; length != 1;) {
        int half = (length + 1) >> 1;
        if (threadIdx.x + half < length)
            part[threadIdx.x] += part[threadIdx.x + half];
        length = half;
    }
    if (threadIdx.x == 0)
        out[0] = part[0];
}
