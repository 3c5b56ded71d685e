// expect: halvedSum_ordered race=proved divergence=proved
// expect: halvedSum_ordered silent
// expect: spannedSum_ordered race=proved divergence=proved
// expect: spannedSum_ordered silent
// expect: scaledByBlockSum_ordered race=proved divergence=proved
// expect: scaledByBlockSum_ordered silent
// expect: sumsOfWarps_ordered race=proved divergence=proved
// expect: sumsOfWarps_ordered silent
// expect: broadcastFactor_ordered race=proved divergence=proved
// expect: broadcastFactor_ordered silent
// expect: softmaxOfRows_ordered race=proved divergence=proved
// expect: softmaxOfRows_ordered silent
// expect: normOfLayer_ordered race=proved divergence=proved
// expect: normOfLayer_ordered silent
// expect: totalOfFirstWarp_ordered race=proved divergence=proved
// expect: totalOfFirstWarp_ordered silent
// expect: greatestAt_ordered race=proved divergence=proved
// expect: greatestAt_ordered silent
// expect: sumsOfColumns_ordered race=proved divergence=proved
// expect: sumsOfColumns_ordered silent
// expect: sumsOfColumns_ordered precondition "blockDim.x <= 32"
// expect: countOfPositive_ordered race=proved divergence=proved
// expect: countOfPositive_ordered silent
// expect: binsOfBytes_ordered race=proved divergence=proved
// expect: binsOfBytes_ordered silent
// expect: sixteenBins_ordered race=proved divergence=proved
// expect: sixteenBins_ordered silent
// expect: prefixSteps_ordered race=proved divergence=proved
// expect: prefixSteps_ordered silent
// expect: treeScan_ordered race=proved divergence=proved
// expect: treeScan_ordered silent
//
// Correct reductions, scans and histograms of blocks.

// The sums of an iteration are complete before the next one reads them.
__global__ void halvedSum_ordered(float* out, const float* in) {
    __shared__ float s[256];
    int t = threadIdx.x;
    s[t] = in[blockIdx.x * blockDim.x + t];
    __syncthreads();
    for (int d = blockDim.x / 2; d > 0; d /= 2) {
        if (t < d)
            s[t] += s[t + d];
        __syncthreads();
    }
    if (t == 0)
        out[blockIdx.x] = s[0];
}

// The loop starts from a parameter, and every iteration waits for the one before.
__global__ void spannedSum_ordered(int* out, const int* in, int span) {
    extern __shared__ int cells[];
    int t = threadIdx.x, size = blockDim.x;
    cells[t] = in[blockIdx.x * size + t];
    __syncthreads();
    for (int d = span; d > 0; d /= 2) {
        if (t < d && t + d < size)
            cells[t] += cells[t + d];
        __syncthreads();
    }
    if (t == 0)
        out[blockIdx.x] = cells[0];
}

// The function lets no thread go on before all have read the sum.
__device__ float sumOfBlock_ordered(float v, float* s) {
    s[threadIdx.x] = v;
    __syncthreads();
    for (int d = blockDim.x / 2; d > 0; d /= 2) {
        if (threadIdx.x < d)
            s[threadIdx.x] += s[threadIdx.x + d];
        __syncthreads();
    }
    float sum = s[0];
    __syncthreads();
    return sum;
}

__global__ void scaledByBlockSum_ordered(float* x, int rows, int n) {
    __shared__ float s[256];
    for (int row = blockIdx.x; row < rows; row += gridDim.x) {
        float part = 0.0f;
        for (int i = threadIdx.x; i < n; i += blockDim.x)
            part += x[row * n + i];
        float sum = sumOfBlock_ordered(part, s);
        for (int i = threadIdx.x; i < n; i += blockDim.x)
            x[row * n + i] /= sum;
    }
}

// The sums of the warps are replaced for the next row after a barrier.
__global__ void sumsOfWarps_ordered(float* x, int rows, int n) {
    __shared__ float part[32];
    int t = threadIdx.x;
    for (int row = blockIdx.x; row < rows; row += gridDim.x) {
        float v = 0.0f, total = 0.0f;
        for (int i = t; i < n; i += blockDim.x)
            v += x[row * n + i] * x[row * n + i];
        for (int d = 16; d > 0; d /= 2)
            v += __shfl_down_sync(0xffffffffu, v, d);
        if (t % 32 == 0)
            part[t / 32] = v;
        __syncthreads();
        for (int k = 0; k < blockDim.x / 32; k++)
            total += part[k];
        for (int i = t; i < n; i += blockDim.x)
            x[row * n + i] *= rsqrtf(total);
        __syncthreads();
    }
}

// Thread 0 stores the factor of the next row when all have read that of this row.
__global__ void broadcastFactor_ordered(float* x, const float* norm, int rows, int n) {
    __shared__ float factor;
    int t = threadIdx.x;
    for (int r = 0; r < rows; r++) {
        if (t == 0)
            factor = 1.0f / norm[blockIdx.x * rows + r];
        __syncthreads();
        for (int i = t; i < n; i += blockDim.x)
            x[(blockIdx.x * rows + r) * n + i] *= factor;
        __syncthreads();
    }
}

// The partial sums go where the maximum was, after all threads have read it.
__global__ void softmaxOfRows_ordered(float* out, const float* in, int rows, int n) {
    __shared__ float s[128];
    int t = threadIdx.x;
    for (int row = blockIdx.x; row < rows; row += gridDim.x) {
        float most = -INFINITY, sum = 0.0f;
        for (int i = t; i < n; i += blockDim.x)
            most = fmaxf(most, in[row * n + i]);
        s[t] = most;
        __syncthreads();
        for (int d = blockDim.x / 2; d > 0; d /= 2) {
            if (t < d) s[t] = fmaxf(s[t], s[t + d]);
            __syncthreads();
        }
        most = s[0];
        __syncthreads();
        for (int i = t; i < n; i += blockDim.x)
            sum += expf(in[row * n + i] - most);
        s[t] = sum;
        __syncthreads();
        for (int d = blockDim.x / 2; d > 0; d /= 2) {
            if (t < d) s[t] += s[t + d];
            __syncthreads();
        }
        for (int i = t; i < n; i += blockDim.x)
            out[row * n + i] = expf(in[row * n + i] - most) / s[0];
        __syncthreads();
    }
}

// The total is cleared for the squares when all threads have taken the mean from it.
__global__ void normOfLayer_ordered(float* y, const float* x, int n) {
    __shared__ float total;
    int t = threadIdx.x, first = blockIdx.x * n;
    float part = 0.0f, squares = 0.0f;
    if (t == 0)
        total = 0.0f;
    __syncthreads();
    for (int i = t; i < n; i += blockDim.x)
        part += x[first + i];
    atomicAdd(&total, part);
    __syncthreads();
    float mean = total / n;
    __syncthreads();
    if (t == 0)
        total = 0.0f;
    __syncthreads();
    for (int i = t; i < n; i += blockDim.x)
        squares += (x[first + i] - mean) * (x[first + i] - mean);
    atomicAdd(&total, squares);
    __syncthreads();
    float scale = rsqrtf(total / n + 1e-5f);
    for (int i = t; i < n; i += blockDim.x)
        y[first + i] = (x[first + i] - mean) * scale;
}

// The first warp stores the total, and all warps read it after a barrier.
__global__ void totalOfFirstWarp_ordered(float* out, const float* in, int n) {
    __shared__ float s[32];
    int t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
    float v = i < n ? in[i] : 0.0f, mine = v;
    for (int d = 16; d > 0; d /= 2)
        v += __shfl_down_sync(0xffffffffu, v, d);
    if (t % 32 == 0)
        s[t / 32] = v;
    __syncthreads();
    if (t < 32) {
        v = t < blockDim.x / 32 ? s[t] : 0.0f;
        for (int d = 16; d > 0; d /= 2)
            v += __shfl_down_sync(0xffffffffu, v, d);
        if (t == 0)
            s[0] = v;
    }
    __syncthreads();
    if (i < n)
        out[i] = mine / s[0];
}

// The greatest element and its place, by halves.
__global__ void greatestAt_ordered(int* out, const float* in) {
    __shared__ float value[128];
    __shared__ int place[128];
    int t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
    value[t] = in[i];
    place[t] = i;
    __syncthreads();
    for (int d = blockDim.x / 2; d > 0; d /= 2) {
        if (t < d) {
            float mine = value[t], other = value[t + d];
            int here = place[t], there = place[t + d];
            value[t] = fmaxf(mine, other);
            place[t] = other > mine ? there : here;
        }
        __syncthreads();
    }
    if (t == 0)
        out[blockIdx.x] = place[0];
}

// The first row of threads adds up what the other rows have stored. A row of sums has 32 elements.
__global__ void sumsOfColumns_ordered(float* out, const float* in, int rows, int columns) {
    __shared__ float part[8][32];
    int tx = threadIdx.x, ty = threadIdx.y, col = blockIdx.x * blockDim.x + tx;
    float sum = 0.0f;
    for (int r = ty; col < columns && r < rows; r += blockDim.y)
        sum += in[r * columns + col];
    part[ty][tx] = sum;
    __syncthreads();
    if (ty == 0 && col < columns) {
        for (int k = 1; k < blockDim.y; k++)
            sum += part[k][tx];
        out[col] = sum;
    }
}

// Thread 0 clears the counter before any thread counts.
__global__ void countOfPositive_ordered(int* counts, const float* in) {
    __shared__ int count;
    int t = threadIdx.x;
    if (t == 0)
        count = 0;
    __syncthreads();
    int one = in[blockIdx.x * blockDim.x + t] > 0.0f ? 1 : 0;
    atomicAdd(&count, one);
    __syncthreads();
    if (t == 0)
        counts[blockIdx.x] = count;
}

// The bins are cleared before any thread counts.
__global__ void binsOfBytes_ordered(unsigned* hist, const unsigned char* in, int n) {
    __shared__ unsigned bins[256];
    for (int b = threadIdx.x; b < 256; b += blockDim.x)
        bins[b] = 0;
    __syncthreads();
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        atomicAdd(&bins[in[i]], 1u);
    __syncthreads();
    for (int b = threadIdx.x; b < 256; b += blockDim.x)
        atomicAdd(&hist[b], bins[b]);
}

// Keys of four bits, counted with atomics.
__global__ void sixteenBins_ordered(int* hist, const int* key, int n) {
    __shared__ int bins[16];
    int t = threadIdx.x;
    if (t < 16)
        bins[t] = 0;
    __syncthreads();
    for (int i = blockIdx.x * blockDim.x + t; i < n; i += gridDim.x * blockDim.x)
        atomicAdd(&bins[key[i] & 15], 1);
    __syncthreads();
    if (t < 16)
        atomicAdd(&hist[t], bins[t]);
}

// A scan in one array: all threads read before one of them stores.
__global__ void prefixSteps_ordered(double* a) {
    __shared__ double s[128];
    int t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
    s[t] = a[i];
    __syncthreads();
    for (int d = 1; d < blockDim.x; d *= 2) {
        double before = t >= d ? s[t - d] : 0.0;
        __syncthreads();
        s[t] += before;
        __syncthreads();
    }
    a[i] = s[t];
}

// A scan by a tree, up and down, with a barrier at each level.
__global__ void treeScan_ordered(int* a) {
    __shared__ int s[256];
    int t = threadIdx.x, n = blockDim.x, i = blockIdx.x * n + t;
    s[t] = a[i];
    __syncthreads();
    for (int d = 1; d < n; d *= 2) {
        int at = 2 * d * (t + 1) - 1;
        if (at < n)
            s[at] += s[at - d];
        __syncthreads();
    }
    if (t == 0)
        s[n - 1] = 0;
    __syncthreads();
    for (int d = n / 2; d > 0; d /= 2) {
        int at = 2 * d * (t + 1) - 1;
        if (at < n) {
            int left = s[at - d];
            s[at - d] = s[at];
            s[at] += left;
        }
        __syncthreads();
    }
    a[i] = s[t];
}
