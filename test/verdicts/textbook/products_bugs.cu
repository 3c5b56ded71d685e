// expect: squareProduct_unordered race=race divergence=proved
// expect: squareProduct_unordered finding race/shared error on left lines 43,47
// expect: squareProduct_unordered finding race/shared error on right lines 44,47
// expect: guardedProduct_unordered race=race divergence=proved
// expect: guardedProduct_unordered finding race/shared error on left lines 59,62
// expect: guardedProduct_unordered finding race/shared error on right lines 60,62
// expect: depthProduct_unordered race=race divergence=proved
// expect: depthProduct_unordered finding race/shared error on left lines 76,80
// expect: depthProduct_unordered finding race/shared error on right lines 77,80
// expect: registerRows_unordered race=race divergence=proved
// expect: registerRows_unordered finding race/shared error on left lines 93,98
// expect: registerRows_unordered finding race/shared error on right lines 94,98
// expect: vectorParts_unordered race=race divergence=proved
// expect: vectorParts_unordered finding race/shared error on part lines 112,115
// expect: productTransposed_unordered<16> race=race divergence=proved
// expect: productTransposed_unordered<16> finding race/shared error on left lines 129,132
// expect: productTransposed_unordered<16> finding race/shared error on right lines 130,132
// expect: prefetchedParts_unordered race=race divergence=proved
// expect: prefetchedParts_unordered finding race/shared error on part lines 151,153
// expect: rowTimesVector_unordered race=race divergence=proved
// expect: rowTimesVector_unordered finding race/shared error on part lines 167,170
// expect: gramOfRows_unordered race=race divergence=proved
// expect: gramOfRows_unordered finding race/global error on gram lines 182
// expect: panelSteps_unordered race=race divergence=proved
// expect: panelSteps_unordered finding race/shared error on panel lines 194,196
// expect: tapsOfFilter_unordered race=race divergence=proved
// expect: tapsOfFilter_unordered finding race/shared error on taps lines 207,213
// expect: complexProduct_unordered race=race divergence=proved
// expect: complexProduct_unordered finding race/shared error on left lines 223,227
// expect: complexProduct_unordered finding race/shared error on right lines 224,227
// expect: powerSteps_unordered race=race divergence=proved
// expect: powerSteps_unordered finding race/shared error on x lines 245,246
//
// Textbook races in products of matrices and vectors through shared memory. Each one happens at every large size.

// The next pair of tiles overwrites the one that slower threads still multiply.
__global__ void squareProduct_unordered(float* c, const float* a, const float* b, int n) {
    __shared__ float left[16][16], right[16][16];
    int tx = threadIdx.x, row = blockIdx.y * blockDim.y + threadIdx.y;
    int ty = threadIdx.y, col = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = 0.0f;
    for (int m = 0; m < n / 16; m++) {
        left[ty][tx] = a[row * n + m * 16 + tx];
        right[ty][tx] = b[(m * 16 + ty) * n + col];
        __syncthreads();
        for (int k = 0; k < 16; k++)
            sum += left[ty][k] * right[k][tx];
    }
    c[row * n + col] = sum;
}

// Threads multiply elements that others have not loaded yet: the barrier after the loads is missing.
__global__ void guardedProduct_unordered(float* c, const float* a, const float* b, int n) {
    __shared__ float left[16][16], right[16][16];
    int tx = threadIdx.x, row = blockIdx.y * blockDim.y + threadIdx.y;
    int ty = threadIdx.y, col = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = 0.0f;
    for (int m = 0; m < n; m += 16) {
        left[ty][tx] = row < n && m + tx < n ? a[row * n + m + tx] : 0.0f;
        right[ty][tx] = m + ty < n && col < n ? b[(m + ty) * n + col] : 0.0f;
        for (int k = 0; k < 16; k++)
            sum += left[ty][k] * right[k][tx];
        __syncthreads();
    }
    if (row < n && col < n)
        c[row * n + col] = sum;
}

// A product of rectangles, whose depth is a parameter, without the barrier at the end of an iteration.
__global__ void depthProduct_unordered(double* c, const double* a, const double* b, int rows, int columns, int depth) {
    __shared__ double left[16][16], right[16][16];
    int tx = threadIdx.x, row = blockIdx.y * blockDim.y + threadIdx.y;
    int ty = threadIdx.y, col = blockIdx.x * blockDim.x + threadIdx.x;
    double sum = 0.0;
    for (int first = 0; first < depth; first += 16) {
        left[ty][tx] = row < rows && first + tx < depth ? a[row * depth + first + tx] : 0.0;
        right[ty][tx] = first + ty < depth && col < columns ? b[(first + ty) * columns + col] : 0.0;
        __syncthreads();
        for (int k = 0; k < 16; k++)
            sum += left[ty][k] * right[k][tx];
    }
    if (row < rows && col < columns)
        c[row * columns + col] += sum;
}

// Each thread keeps the sums of four rows. It multiplies before the others have loaded their parts of the tiles.
__global__ void registerRows_unordered(float* c, const float* a, const float* b, int rows, int columns, int depth) {
    __shared__ float left[32][32], right[32][32];
    int tx = threadIdx.x, ty = threadIdx.y, top = blockIdx.y * 32, col = blockIdx.x * 32 + tx;
    float sum[4] = {0.0f, 0.0f, 0.0f, 0.0f};
    for (int first = 0; first < depth; first += 32) {
        for (int r = ty; r < 32; r += 8) {
            left[r][tx] = top + r < rows && first + tx < depth ? a[(top + r) * depth + first + tx] : 0.0f;
            right[r][tx] = first + r < depth && col < columns ? b[(first + r) * columns + col] : 0.0f;
        }
        for (int k = 0; k < 32; k++)
            for (int r = ty; r < 32; r += 8)
                sum[r / 8] += left[r][k] * right[k][tx];
        __syncthreads();
    }
    for (int r = ty; r < 32; r += 8)
        if (top + r < rows && col < columns)
            c[(top + r) * columns + col] = sum[r / 8];
}

// The threads of a row of blocks share a part of a vector, and the next part overwrites it too early.
__global__ void vectorParts_unordered(float* y, const float* x, const float* w, int n, int depth) {
    __shared__ float part[256];
    int t = threadIdx.x, row = blockIdx.x, col = blockIdx.y * blockDim.x + t;
    float sum = 0.0f;
    for (int first = 0; first < depth; first += blockDim.x) {
        part[t] = first + t < depth ? x[row * depth + first + t] : 0.0f;
        __syncthreads();
        for (int k = 0; col < n && k < blockDim.x && first + k < depth; k++)
            sum += part[k] * w[(first + k) * n + col];
    }
    if (col < n)
        y[row * n + col] = sum;
}

// The second factor is transposed. Nothing separates the loads from the products.
template <int Tile> __global__ void __launch_bounds__(Tile * Tile)
productTransposed_unordered(float* c, const float* a, const float* b, int n, int depth) {
    __shared__ float left[Tile][Tile + 1], right[Tile][Tile + 1];
    int tx = threadIdx.x % Tile, row = blockIdx.y * Tile + threadIdx.x / Tile;
    int ty = threadIdx.x / Tile, col = blockIdx.x * Tile + tx, other = blockIdx.x * Tile + ty;
    float sum = 0.0f;
    for (int m = 0; m < depth; m += Tile) {
        left[ty][tx] = row < n && m + tx < depth ? a[row * depth + m + tx] : 0.0f;
        right[ty][tx] = other < n && m + tx < depth ? b[other * depth + m + tx] : 0.0f;
        for (int k = 0; k < Tile; k++)
            sum += left[ty][k] * right[tx][k];
        __syncthreads();
    }
    if (row < n && col < n)
        c[row * n + col] = sum;
}
template __global__ void productTransposed_unordered<16>(float*, const float*, const float*, int, int);

// While a part is multiplied, the next one goes to the other buffer. One barrier an iteration would do, but there is
// none.
__global__ void __launch_bounds__(128)
prefetchedParts_unordered(float* y, const float* x, const float* w, int n, int depth) {
    __shared__ float part[2][128];
    int t = threadIdx.x, size = blockDim.x, col = blockIdx.x * blockDim.x + t, now = 0;
    float sum = 0.0f;
    part[0][t] = t < depth ? x[t] : 0.0f;
    __syncthreads();
    for (int first = 0; first < depth; first += size) {
        int next = first + size + t;
        part[1 - now][t] = next < depth ? x[next] : 0.0f;
        for (int k = 0; k < size && first + k < depth; k++)
            sum += part[now][k] * (col < n ? w[(first + k) * n + col] : 0.0f);
        now = 1 - now;
    }
    if (col < n)
        y[col] = sum;
}

// A thread adds the partial sum of another one that may not have stored it yet.
__global__ void rowTimesVector_unordered(double* y, const double* a, const double* x, int n) {
    __shared__ double part[128];
    int t = threadIdx.x, row = blockIdx.x;
    double sum = 0.0;
    for (int k = t; k < n; k += blockDim.x)
        sum += a[row * n + k] * x[k];
    part[t] = sum;
    for (int d = blockDim.x / 2; d > 0; d /= 2) {
        if (t < d)
            part[t] += part[t + d];
        __syncthreads();
    }
    if (t == 0)
        y[row] = part[0];
}

// Each block adds the product of one row with itself to the same matrix, without an atomic.
__global__ void gramOfRows_unordered(float* gram, const float* x, int d) {
    const float* row = x + blockIdx.x * d;
    for (int i = threadIdx.y; i < d; i += blockDim.y)
        for (int j = threadIdx.x; j < d; j += blockDim.x)
            gram[i * d + j] += row[i] * row[j];
}

// Elimination in a panel of 8 columns. Row k is final after step k - 1, but other threads do not wait for it.
__global__ void panelSteps_unordered(float* a) {
    __shared__ float panel[128][9];
    int t = threadIdx.x, row = blockIdx.x * blockDim.x + t;
    for (int j = 0; j < 8; j++)
        panel[t][j] = a[row * 8 + j];
    __syncthreads();
    for (int k = 0; k < 8; k++) {
        if (t > k) {
            float factor = panel[t][k] / panel[k][k];
            for (int j = k + 1; j < 8; j++)
                panel[t][j] -= factor * panel[k][j];
        }
    }
    for (int j = 0; j < 8; j++)
        a[row * 8 + j] = panel[t][j];
}

// The taps of a filter are used before all of them have arrived in shared memory.
__global__ void tapsOfFilter_unordered(float* out, const float* in, const float* filter, int n) {
    __shared__ float taps[25];
    for (int k = threadIdx.x; k < 25; k += blockDim.x)
        taps[k] = filter[k];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    float sum = 0.0f;
    for (int k = 0; k < 25; k++)
        sum += taps[k] * in[i + k];
    out[i] = sum;
}

// Complex numbers in tiles of 8 x 8. The barrier that protects the tiles from the next iteration is missing.
__global__ void __launch_bounds__(64) complexProduct_unordered(float2* c, const float2* a, const float2* b, size_t n) {
    __shared__ float2 left[8][8], right[8][8];
    size_t tx = threadIdx.x % 8, ty = threadIdx.x / 8, row = blockIdx.y * 8 + ty, col = blockIdx.x * 8 + tx;
    float2 sum = make_float2(0.0f, 0.0f), zero = sum;
    for (size_t m = 0; m < n; m += 8) {
        left[ty][tx] = row < n && m + tx < n ? a[row * n + m + tx] : zero;
        right[ty][tx] = m + ty < n && col < n ? b[(m + ty) * n + col] : zero;
        __syncthreads();
        for (int k = 0; k < 8; k++) {
            float2 p = left[ty][k], q = right[k][tx];
            sum.x += p.x * q.x - p.y * q.y;
            sum.y += p.x * q.y + p.y * q.x;
        }
    }
    if (row < n && col < n)
        c[row * n + col] = sum;
}

// A vector is multiplied by a matrix again and again. A thread replaces its element while others still multiply it.
__global__ void powerSteps_unordered(float* v, const float* a, int steps) {
    __shared__ float x[64];
    int t = threadIdx.x, n = blockDim.x, row = blockIdx.x * n + t;
    x[t] = v[row];
    __syncthreads();
    for (int step = 0; step < steps; step++) {
        float sum = 0.0f;
        for (int k = 0; k < n; k++)
            sum += a[row * n + k] * x[k];
        x[t] = sum;
        __syncthreads();
    }
    v[row] = x[t];
}
