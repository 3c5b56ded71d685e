// Kernels after the descriptions in "Modeling and Analyzing Evaluation Cost of CUDA Kernels" (Muller and Hoffmann,
// POPL 2021), whose benchmarks they represent.

#define TILE 32

/// Square matrices, multiplied tile by tile. n is a multiple of 32.
__global__ void matMul(float *c, const float *a, const float *b, int n) {
    __shared__ float as[TILE][TILE];
    __shared__ float bs[TILE][TILE];
    int tx = threadIdx.x, ty = threadIdx.y;
    int row = blockIdx.y * TILE + ty;
    int column = blockIdx.x * TILE + tx;
    float sum = 0;
    for (int first = 0; first < n; first += TILE) {
        as[ty][tx] = a[row * n + first + tx];
        bs[ty][tx] = b[(first + ty) * n + column];
        __syncthreads();
        for (int k = 0; k < TILE; k++) sum += as[ty][k] * bs[k][tx];
        __syncthreads();
    }
    c[row * n + column] = sum;
}

/// The same with x and y exchanged where that is expensive, and a branch that splits each warp.
__global__ void matMulBad(float *c, const float *a, const float *b, int n) {
    __shared__ float as[TILE][TILE];
    __shared__ float bs[TILE][TILE];
    int tx = threadIdx.x, ty = threadIdx.y;
    int row = blockIdx.x * TILE + tx;
    int column = blockIdx.y * TILE + ty;
    float sum = 0;
    for (int first = 0; first < n; first += TILE) {
        as[tx][ty] = a[row * n + first + ty];
        bs[tx][ty] = b[(first + tx) * n + column];
        __syncthreads();
        if (tx % 2 == 0) {
            for (int k = 0; k < TILE; k++) sum += as[tx][k] * bs[k][ty];
        } else {
            for (int k = TILE - 1; k >= 0; k--) sum += as[tx][k] * bs[k][ty];
        }
        __syncthreads();
    }
    c[row * n + column] = sum;
}

/// The tile of the second matrix is stored transposed.
__global__ void matMulTrans(float *c, const float *a, const float *b, int n) {
    __shared__ float as[TILE][TILE];
    __shared__ float bs[TILE][TILE];
    int tx = threadIdx.x, ty = threadIdx.y;
    int row = blockIdx.y * TILE + ty;
    int column = blockIdx.x * TILE + tx;
    float sum = 0;
    for (int first = 0; first < n; first += TILE) {
        as[ty][tx] = a[row * n + first + tx];
        bs[tx][ty] = b[(first + ty) * n + column];
        __syncthreads();
        for (int k = 0; k < TILE; k++) sum += as[ty][k] * bs[tx][k];
        __syncthreads();
    }
    c[row * n + column] = sum;
}

/// One row of threads for each row of the picture; each point takes up to `limit` iterations.
__global__ void mandelbrot(int *rounds, int width, int limit) {
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y;
    if (x >= width) return;
    float cr = -2.0f + 3.0f * x / width, ci = -1.0f + 2.0f * y / gridDim.y;
    float zr = 0, zi = 0;
    int k = 0;
    while (k < limit && zr * zr + zi * zi < 4.0f) {
        float next = zr * zr - zi * zi + cr;
        zi = 2 * zr * zi + ci;
        zr = next;
        k++;
    }
    rounds[y * width + x] = k;
}

__global__ void vectorAdd(float *c, const float *a, const float *b, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) c[i] = a[i] + b[i];
}

/// Neighbours at growing distances; the lanes that add are spread over all warps.
__global__ void reduce0(int *out, const int *in) {
    __shared__ int data[256];
    int t = threadIdx.x;
    data[t] = in[blockIdx.x * blockDim.x + t];
    __syncthreads();
    for (int s = 1; s < blockDim.x; s *= 2) {
        if (t % (2 * s) == 0) data[t] += data[t + s];
        __syncthreads();
    }
    if (t == 0) out[blockIdx.x] = data[0];
}

/// The first threads add, at strides that grow.
__global__ void reduce1(int *out, const int *in) {
    __shared__ int data[256];
    int t = threadIdx.x;
    data[t] = in[blockIdx.x * blockDim.x + t];
    __syncthreads();
    for (int s = 1; s < blockDim.x; s *= 2) {
        int i = 2 * s * t;
        if (i < blockDim.x) data[i] += data[i + s];
        __syncthreads();
    }
    if (t == 0) out[blockIdx.x] = data[0];
}

/// Halves are added to halves.
__global__ void reduce2(int *out, const int *in) {
    __shared__ int data[256];
    int t = threadIdx.x;
    data[t] = in[blockIdx.x * blockDim.x + t];
    __syncthreads();
    for (int s = blockDim.x / 2; s > 0; s >>= 1) {
        if (t < s) data[t] += data[t + s];
        __syncthreads();
    }
    if (t == 0) out[blockIdx.x] = data[0];
}

/// The same, and a first addition while the data are read.
__global__ void reduce3(int *out, const int *in) {
    __shared__ int data[256];
    int t = threadIdx.x;
    int i = blockIdx.x * (blockDim.x * 2) + t;
    data[t] = in[i] + in[i + blockDim.x];
    __syncthreads();
    for (int s = blockDim.x / 2; s > 0; s >>= 1) {
        if (t < s) data[t] += data[t + s];
        __syncthreads();
    }
    if (t == 0) out[blockIdx.x] = data[0];
}

/// reduce2 with a counter of iterations that determines the distance.
__global__ void reduce2a(int *out, const int *in) {
    __shared__ int data[256];
    int t = threadIdx.x;
    data[t] = in[blockIdx.x * blockDim.x + t];
    __syncthreads();
    for (int k = 1; k <= 8; k++) {
        int s = 256 >> k;
        if (t < s) data[t] += data[t + s];
        __syncthreads();
    }
    if (t == 0) out[blockIdx.x] = data[0];
}

__global__ void reduce3a(int *out, const int *in) {
    __shared__ int data[256];
    int t = threadIdx.x;
    int i = blockIdx.x * (blockDim.x * 2) + t;
    data[t] = in[i] + in[i + blockDim.x];
    __syncthreads();
    for (int k = 1; k <= 8; k++) {
        int s = 256 >> k;
        if (t < s) data[t] += data[t + s];
        __syncthreads();
    }
    if (t == 0) out[blockIdx.x] = data[0];
}

/// Bytes of an array of n words, 256 bins in shared memory.
__global__ void histogram(unsigned *bins, const unsigned *data, int n) {
    __shared__ unsigned own[256];
    for (int i = threadIdx.x; i < 256; i += blockDim.x) own[i] = 0;
    __syncthreads();
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x) {
        unsigned word = data[i];
        atomicAdd(&own[word & 255], 1u);
        atomicAdd(&own[word >> 8 & 255], 1u);
        atomicAdd(&own[word >> 16 & 255], 1u);
        atomicAdd(&own[word >> 24], 1u);
    }
    __syncthreads();
    for (int i = threadIdx.x; i < 256; i += blockDim.x) atomicAdd(&bins[i], own[i]);
}

/// Adds `a`, of w elements, to the even rows of `b` and subtracts it from the odd ones: one thread per row.
__global__ void addSub0(float *a, float *b, int w, int h) {
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= h) return;
    for (int i = 0; i < w; i++) {
        if (row % 2 == 0) b[row * w + i] += a[i];
        else b[row * w + i] -= a[i];
    }
}

/// One thread per two rows: no branch.
__global__ void addSub1(float *a, float *b, int w, int h) {
    int pair = blockIdx.x * blockDim.x + threadIdx.x;
    if (2 * pair >= h) return;
    for (int i = 0; i < w; i++) {
        b[2 * pair * w + i] += a[i];
        b[(2 * pair + 1) * w + i] -= a[i];
    }
}

/// One thread per column: neighbours access neighbours.
__global__ void addSub2(float *a, float *b, int w, int h) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= w) return;
    for (int row = 0; row < h; row += 2) {
        b[row * w + i] += a[i];
        b[(row + 1) * w + i] -= a[i];
    }
}

/// The same, with `a` in shared memory.
__global__ void addSub3(float *a, float *b, int w, int h) {
    __shared__ float own[256];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= w) return;
    own[threadIdx.x] = a[i];
    for (int row = 0; row < h; row += 2) {
        b[row * w + i] += own[threadIdx.x];
        b[(row + 1) * w + i] -= own[threadIdx.x];
    }
}

/// Splits its warps in each iteration, at branches in the body.
__global__ void syntheticDivergence(int *a, int n) {
    int t = threadIdx.x;
    for (int i = 0; i < n; i++) {
        if (t % 2 == 0) a[t] += i;
        if (t % 32 < 7) a[64 + t] ^= i;
        if (t / 32 == 1) a[128 + t] -= i;
    }
}

/// The second loop has as its trip count the index of the thread.
__global__ void syntheticTriangle(int *a, int n) {
    int t = threadIdx.x, sum = 0;
    for (int i = 0; i < n; i++)
        for (int j = i + 1; j < n; j++) sum += a[j];
    for (int i = 0; i < t; i++) sum += i;
    a[n + t] = sum;
}

/// A column of a table of 32 words per row, and one of 33.
__global__ void syntheticColumns(int *out, int n) {
    __shared__ int plain[32 * 32];
    __shared__ int padded[32 * 33];
    int t = threadIdx.x, sum = 0;
    for (int i = t; i < 32 * 32; i += blockDim.x) plain[i] = padded[i] = i;
    __syncthreads();
    for (int i = 0; i < n; i++) sum += plain[t % 32 * 32 + (i & 31)] + padded[t % 32 * 33 + (i & 31)];
    out[t] = sum;
}

/// Every third element, in pairs of words.
__global__ void syntheticStride(float2 *out, const float2 *in, int n) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        float2 value = in[3 * i];
        out[i] = make_float2(value.y, value.x);
    }
}
