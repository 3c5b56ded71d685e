// expect: squareProduct_ordered race=proved divergence=proved
// expect: squareProduct_ordered silent
// expect: squareProduct_ordered precondition "blockDim.x <= 16"
// expect: squareProduct_ordered precondition "n >= gridDim.x * blockDim.x"
// expect: guardedProduct_ordered race=proved divergence=proved
// expect: guardedProduct_ordered silent
// expect: guardedProduct_ordered precondition "blockDim.x <= 16"
// expect: depthProduct_ordered race=proved divergence=proved
// expect: depthProduct_ordered silent
// expect: depthProduct_ordered precondition "blockDim.x <= 16"
// expect: registerRows_ordered race=proved divergence=proved
// expect: registerRows_ordered silent
// expect: registerRows_ordered precondition "blockDim.x <= 32"
// expect: registerRows_ordered precondition "blockDim.y <= 8"
// expect: vectorParts_ordered race=proved divergence=proved
// expect: vectorParts_ordered silent
// expect: productTransposed_ordered<16> race=proved divergence=proved
// expect: productTransposed_ordered<16> silent
// expect: prefetchedParts_ordered race=proved divergence=proved
// expect: prefetchedParts_ordered silent
// expect: rowTimesVector_ordered race=proved divergence=proved
// expect: rowTimesVector_ordered silent
// expect: gramOfRows_ordered race=proved divergence=proved
// expect: gramOfRows_ordered silent
// expect: panelSteps_ordered race=proved divergence=proved
// expect: panelSteps_ordered silent
// expect: tapsOfFilter_ordered race=proved divergence=proved
// expect: tapsOfFilter_ordered silent
// expect: complexProduct_ordered race=proved divergence=proved
// expect: complexProduct_ordered silent
// expect: powerSteps_ordered race=proved divergence=proved
// expect: powerSteps_ordered silent
//
// Correct products of matrices and vectors through shared memory.

// A barrier on each side of the product. The rows of c are as long as the grid is wide, and a row of a tile has 16
// elements.
__global__ void squareProduct_ordered(float* c, const float* a, const float* b, int n) {
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
        __syncthreads();
    }
    c[row * n + col] = sum;
}

// All loads of an iteration come before its products, and all products before the next loads.
__global__ void guardedProduct_ordered(float* c, const float* a, const float* b, int n) {
    __shared__ float left[16][16], right[16][16];
    int tx = threadIdx.x, row = blockIdx.y * blockDim.y + threadIdx.y;
    int ty = threadIdx.y, col = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = 0.0f;
    for (int m = 0; m < n; m += 16) {
        left[ty][tx] = row < n && m + tx < n ? a[row * n + m + tx] : 0.0f;
        right[ty][tx] = m + ty < n && col < n ? b[(m + ty) * n + col] : 0.0f;
        __syncthreads();
        for (int k = 0; k < 16; k++)
            sum += left[ty][k] * right[k][tx];
        __syncthreads();
    }
    if (row < n && col < n)
        c[row * n + col] = sum;
}

// A product of rectangles, whose depth is a parameter, with both barriers.
__global__ void depthProduct_ordered(double* c, const double* a, const double* b, int rows, int columns, int depth) {
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
        __syncthreads();
    }
    if (row < rows && col < columns)
        c[row * columns + col] += sum;
}

// Each thread keeps the sums of every eighth row, four of them, so that a block has 32 x 8 threads.
__global__ void registerRows_ordered(float* c, const float* a, const float* b, int rows, int columns, int depth) {
    __shared__ float left[32][32], right[32][32];
    int tx = threadIdx.x, ty = threadIdx.y, top = blockIdx.y * 32, col = blockIdx.x * 32 + tx;
    float sum[4] = {0.0f, 0.0f, 0.0f, 0.0f};
    for (int first = 0; first < depth; first += 32) {
        for (int r = ty; r < 32; r += 8) {
            left[r][tx] = top + r < rows && first + tx < depth ? a[(top + r) * depth + first + tx] : 0.0f;
            right[r][tx] = first + r < depth && col < columns ? b[(first + r) * columns + col] : 0.0f;
        }
        __syncthreads();
        for (int k = 0; k < 32; k++)
            for (int r = ty; r < 32; r += 8)
                sum[r / 8] += left[r][k] * right[k][tx];
        __syncthreads();
    }
    for (int r = ty; r < 32; r += 8)
        if (top + r < rows && col < columns)
            c[(top + r) * columns + col] = sum[r / 8];
}

// Parts of a vector pass through shared memory, with a barrier before and after they are read.
__global__ void vectorParts_ordered(float* y, const float* x, const float* w, int n, int depth) {
    __shared__ float part[256];
    int t = threadIdx.x, row = blockIdx.x, col = blockIdx.y * blockDim.x + t;
    float sum = 0.0f;
    for (int first = 0; first < depth; first += blockDim.x) {
        part[t] = first + t < depth ? x[row * depth + first + t] : 0.0f;
        __syncthreads();
        for (int k = 0; col < n && k < blockDim.x && first + k < depth; k++)
            sum += part[k] * w[(first + k) * n + col];
        __syncthreads();
    }
    if (col < n)
        y[row * n + col] = sum;
}

// The second factor is transposed, and a block of one dimension is divided into rows and columns of the tiles.
template <int Tile> __global__ void __launch_bounds__(Tile * Tile)
productTransposed_ordered(float* c, const float* a, const float* b, int n, int depth) {
    __shared__ float left[Tile][Tile + 1], right[Tile][Tile + 1];
    int tx = threadIdx.x % Tile, row = blockIdx.y * Tile + threadIdx.x / Tile;
    int ty = threadIdx.x / Tile, col = blockIdx.x * Tile + tx, other = blockIdx.x * Tile + ty;
    float sum = 0.0f;
    for (int m = 0; m < depth; m += Tile) {
        left[ty][tx] = row < n && m + tx < depth ? a[row * depth + m + tx] : 0.0f;
        right[ty][tx] = other < n && m + tx < depth ? b[other * depth + m + tx] : 0.0f;
        __syncthreads();
        for (int k = 0; k < Tile; k++)
            sum += left[ty][k] * right[tx][k];
        __syncthreads();
    }
    if (row < n && col < n)
        c[row * n + col] = sum;
}
template __global__ void productTransposed_ordered<16>(float*, const float*, const float*, int, int);

// While a part is multiplied, the next one goes to the other buffer. One barrier an iteration is enough.
__global__ void __launch_bounds__(128)
prefetchedParts_ordered(float* y, const float* x, const float* w, int n, int depth) {
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
        __syncthreads();
    }
    if (col < n)
        y[col] = sum;
}

// The partial sums are stored, and then added by halves.
__global__ void rowTimesVector_ordered(double* y, const double* a, const double* x, int n) {
    __shared__ double part[128];
    int t = threadIdx.x, row = blockIdx.x;
    double sum = 0.0;
    for (int k = t; k < n; k += blockDim.x)
        sum += a[row * n + k] * x[k];
    part[t] = sum;
    __syncthreads();
    for (int d = blockDim.x / 2; d > 0; d /= 2) {
        if (t < d)
            part[t] += part[t + d];
        __syncthreads();
    }
    if (t == 0)
        y[row] = part[0];
}

// Each block adds the product of one row with itself to the same matrix, with atomics.
__global__ void gramOfRows_ordered(float* gram, const float* x, int d) {
    const float* row = x + blockIdx.x * d;
    for (int i = threadIdx.y; i < d; i += blockDim.y)
        for (int j = threadIdx.x; j < d; j += blockDim.x)
            atomicAdd(&gram[i * d + j], row[i] * row[j]);
}

// Elimination in a panel of 8 columns: all rows take step k before row k + 1 is read.
__global__ void panelSteps_ordered(float* a) {
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
        __syncthreads();
    }
    for (int j = 0; j < 8; j++)
        a[row * 8 + j] = panel[t][j];
}

// The taps of a filter are loaded together, then used by all.
__global__ void tapsOfFilter_ordered(float* out, const float* in, const float* filter, int n) {
    __shared__ float taps[25];
    for (int k = threadIdx.x; k < 25; k += blockDim.x)
        taps[k] = filter[k];
    __syncthreads();
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    float sum = 0.0f;
    for (int k = 0; k < 25; k++)
        sum += taps[k] * in[i + k];
    out[i] = sum;
}

// Complex numbers in tiles of 8 x 8, with both barriers.
__global__ void __launch_bounds__(64) complexProduct_ordered(float2* c, const float2* a, const float2* b, size_t n) {
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
        __syncthreads();
    }
    if (row < n && col < n)
        c[row * n + col] = sum;
}

// A vector is multiplied by a matrix again and again: all elements are read before one is replaced.
__global__ void powerSteps_ordered(float* v, const float* a, int steps) {
    __shared__ float x[64];
    int t = threadIdx.x, n = blockDim.x, row = blockIdx.x * n + t;
    x[t] = v[row];
    __syncthreads();
    for (int step = 0; step < steps; step++) {
        float sum = 0.0f;
        for (int k = 0; k < n; k++)
            sum += a[row * n + k] * x[k];
        __syncthreads();
        x[t] = sum;
        __syncthreads();
    }
    v[row] = x[t];
}
