// expect: halvedSum_unordered race=race divergence=proved
// expect: halvedSum_unordered finding race/shared error on s lines 43
// expect: spannedSum_unordered race=race divergence=proved
// expect: spannedSum_unordered finding race/shared error on cells lines 57
// expect: scaledByBlockSum_unordered race=race divergence=proved
// expect: scaledByBlockSum_unordered finding race/shared error on s lines 65,72
// expect: sumsOfWarps_unordered race=race divergence=proved
// expect: sumsOfWarps_unordered finding race/shared error on part lines 98,101
// expect: broadcastFactor_unordered race=race divergence=proved
// expect: broadcastFactor_unordered finding race/shared error on factor lines 113,116
// expect: softmaxOfRows_unordered race=race divergence=proved
// expect: softmaxOfRows_unordered finding race/shared error on s lines 134,137
// expect: normOfLayer_unordered race=race divergence=proved
// expect: normOfLayer_unordered finding race/shared error on total lines 161,163
// expect: totalOfFirstWarp_unordered race=race divergence=proved
// expect: totalOfFirstWarp_unordered finding race/shared error on s lines 189,192
// expect: greatestAt_unordered race=race divergence=proved
// expect: greatestAt_unordered finding race/shared error on value lines 205,207
// expect: greatestAt_unordered finding race/shared error on place lines 206,208
// expect: sumsOfColumns_unordered race=race divergence=proved
// expect: sumsOfColumns_unordered finding race/shared error on part lines 222,225
// expect: countOfPositive_unordered race=race divergence=proved
// expect: countOfPositive_unordered finding race/shared error on count lines 235,237
// expect: binsOfBytes_unordered race=race divergence=proved
// expect: binsOfBytes_unordered finding race/shared error on bins lines 247,249
// expect: sixteenBins_unordered race=race divergence=proved
// expect: sixteenBins_unordered finding race/shared error on bins lines 263
// expect: prefixSteps_unordered race=race divergence=proved
// expect: prefixSteps_unordered finding race/shared error on s lines 277
// expect: treeScan_unordered race=race divergence=proved
// expect: treeScan_unordered finding race/shared error on s lines 292
//
// Textbook races in reductions, scans and histograms of blocks. Each one happens at every large size.

// A thread adds a sum of the iteration before, and its owner may not have stored it yet.
__global__ void halvedSum_unordered(float* out, const float* in) {
    __shared__ float s[256];
    int t = threadIdx.x;
    s[t] = in[blockIdx.x * blockDim.x + t];
    __syncthreads();
    for (int d = blockDim.x / 2; d > 0; d /= 2)
        if (t < d)
            s[t] += s[t + d];
    __syncthreads();
    if (t == 0)
        out[blockIdx.x] = s[0];
}

// The loop starts from a parameter, and none of its iterations waits for the one before.
__global__ void spannedSum_unordered(int* out, const int* in, int span) {
    extern __shared__ int cells[];
    int t = threadIdx.x, size = blockDim.x;
    cells[t] = in[blockIdx.x * size + t];
    __syncthreads();
    for (int d = span; d > 0; d /= 2) {
        if (t < d && t + d < size)
            cells[t] += cells[t + d];
    }
    if (t == 0)
        out[blockIdx.x] = cells[0];
}

// The function returns while some threads have not read the sum, and its next call overwrites it.
__device__ float sumOfBlock_unordered(float v, float* s) {
    s[threadIdx.x] = v;
    __syncthreads();
    for (int d = blockDim.x / 2; d > 0; d /= 2) {
        if (threadIdx.x < d)
            s[threadIdx.x] += s[threadIdx.x + d];
        __syncthreads();
    }
    return s[0];
}

__global__ void scaledByBlockSum_unordered(float* x, int rows, int n) {
    __shared__ float s[256];
    for (int row = blockIdx.x; row < rows; row += gridDim.x) {
        float part = 0.0f;
        for (int i = threadIdx.x; i < n; i += blockDim.x)
            part += x[row * n + i];
        float sum = sumOfBlock_unordered(part, s);
        for (int i = threadIdx.x; i < n; i += blockDim.x)
            x[row * n + i] /= sum;
    }
}

// The sums of the warps are replaced for the next row, though other threads still add those of this row.
__global__ void sumsOfWarps_unordered(float* x, int rows, int n) {
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
    }
}

// Thread 0 stores the factor of the next row while others have not read that of this row.
__global__ void broadcastFactor_unordered(float* x, const float* norm, int rows, int n) {
    __shared__ float factor;
    int t = threadIdx.x;
    for (int r = 0; r < rows; r++) {
        if (t == 0)
            factor = 1.0f / norm[blockIdx.x * rows + r];
        __syncthreads();
        for (int i = t; i < n; i += blockDim.x)
            x[(blockIdx.x * rows + r) * n + i] *= factor;
    }
}

// The partial sums go where the maximum is, and not all threads have read it.
__global__ void softmaxOfRows_unordered(float* out, const float* in, int rows, int n) {
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

// Thread 0 clears the total for the squares while other threads still take the mean from it.
__global__ void normOfLayer_unordered(float* y, const float* x, int n) {
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

// The first warp stores the total, and the other warps read it without a barrier.
__global__ void totalOfFirstWarp_unordered(float* out, const float* in, int n) {
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
    if (i < n)
        out[i] = mine / s[0];
}

// The greatest element and its place, by halves without a barrier: two arrays, and each of them races.
__global__ void greatestAt_unordered(int* out, const float* in) {
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
    }
    if (t == 0)
        out[blockIdx.x] = place[0];
}

// The first row of threads adds up what the other rows have not stored yet.
__global__ void sumsOfColumns_unordered(float* out, const float* in, int rows, int columns) {
    __shared__ float part[8][32];
    int tx = threadIdx.x, ty = threadIdx.y, col = blockIdx.x * blockDim.x + tx;
    float sum = 0.0f;
    for (int r = ty; col < columns && r < rows; r += blockDim.y)
        sum += in[r * columns + col];
    part[ty][tx] = sum;
    if (ty == 0 && col < columns) {
        for (int k = 1; k < blockDim.y; k++)
            sum += part[k][tx];
        out[col] = sum;
    }
}

// Thread 0 clears the counter when others may have counted already.
__global__ void countOfPositive_unordered(int* counts, const float* in) {
    __shared__ int count;
    int t = threadIdx.x;
    if (t == 0)
        count = 0;
    int one = in[blockIdx.x * blockDim.x + t] > 0.0f ? 1 : 0;
    atomicAdd(&count, one);
    __syncthreads();
    if (t == 0)
        counts[blockIdx.x] = count;
}

// The bins are cleared while other threads already count.
__global__ void binsOfBytes_unordered(unsigned* hist, const unsigned char* in, int n) {
    __shared__ unsigned bins[256];
    for (int b = threadIdx.x; b < 256; b += blockDim.x)
        bins[b] = 0;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        atomicAdd(&bins[in[i]], 1u);
    __syncthreads();
    for (int b = threadIdx.x; b < 256; b += blockDim.x)
        atomicAdd(&hist[b], bins[b]);
}

// There are more threads than bins, so that two of them add to one, for all keys.
__global__ void sixteenBins_unordered(int* hist, const int* key, int n) {
    __shared__ int bins[16];
    int t = threadIdx.x;
    if (t < 16)
        bins[t] = 0;
    __syncthreads();
    for (int i = blockIdx.x * blockDim.x + t; i < n; i += gridDim.x * blockDim.x)
        bins[key[i] & 15]++;
    __syncthreads();
    if (t < 16)
        atomicAdd(&hist[t], bins[t]);
}

// A scan in one array: a thread reads the sum of another one, which may be that of this iteration already.
__global__ void prefixSteps_unordered(double* a) {
    __shared__ double s[128];
    int t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
    s[t] = a[i];
    __syncthreads();
    for (int d = 1; d < blockDim.x; d *= 2) {
        if (t >= d)
            s[t] += s[t - d];
        __syncthreads();
    }
    a[i] = s[t];
}

// A scan by a tree. Upwards, a node is read before its children have been added.
__global__ void treeScan_unordered(int* a) {
    __shared__ int s[256];
    int t = threadIdx.x, n = blockDim.x, i = blockIdx.x * n + t;
    s[t] = a[i];
    __syncthreads();
    for (int d = 1; d < n; d *= 2) {
        int at = 2 * d * (t + 1) - 1;
        if (at < n)
            s[at] += s[at - d];
    }
    __syncthreads();
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
