// expect: relaxedLine_ordered race=proved divergence=proved
// expect: relaxedLine_ordered silent
// expect: wideHalo_ordered race=proved divergence=proved
// expect: wideHalo_ordered silent
// expect: shiftedDown_ordered race=proved divergence=proved
// expect: shiftedDown_ordered silent
// expect: reversedArray_ordered race=proved divergence=proved
// expect: reversedArray_ordered silent
// expect: fivePoints_ordered race=proved divergence=proved
// expect: fivePoints_ordered silent
// expect: dividedRow_ordered race=proved divergence=proved
// expect: dividedRow_ordered silent
// expect: turnedTile_ordered<16> race=proved divergence=proved
// expect: turnedTile_ordered<16> silent
// expect: turnedTile_ordered<16> precondition "blockDim.x <= 16"
// expect: turnedTile_ordered<16> precondition "blockDim.y <= 16"
// expect: differencesOfFour_ordered race=proved divergence=proved
// expect: differencesOfFour_ordered silent
// expect: oddEvenSort_ordered race=proved divergence=proved
// expect: oddEvenSort_ordered silent
// expect: bitonicSteps_ordered<128> race=proved divergence=proved
// expect: bitonicSteps_ordered<128> silent
// expect: stagesOfRing_ordered race=proved divergence=proved
// expect: stagesOfRing_ordered silent
// expect: carvedPool_ordered race=proved divergence=proved
// expect: carvedPool_ordered silent
//
// Correct buffers, stencils, sorts and updates in place.

// Two buffers take turns, and one barrier separates an iteration from the next one.
__global__ void __launch_bounds__(128) relaxedLine_ordered(float* a, int steps) {
    __shared__ float s[2][130];
    int t = threadIdx.x, i = blockIdx.x * blockDim.x + t, now = 0;
    s[0][t + 1] = a[i];
    if (t == 0) {
        s[0][0] = s[0][blockDim.x + 1] = 0.0f;
        s[1][0] = s[1][blockDim.x + 1] = 0.0f;
    }
    __syncthreads();
    for (int k = 0; k < steps; k++) {
        s[1 - now][t + 1] = 0.5f * (s[now][t] + s[now][t + 2]);
        now = 1 - now;
        __syncthreads();
    }
    a[i] = s[now][t + 1];
}

// The sum of nine neighbours, from elements and a halo of four on each side.
__global__ void wideHalo_ordered(float* out, const float* in, int n) {
    __shared__ float s[264];
    int t = threadIdx.x, size = blockDim.x, i = blockIdx.x * size + t;
    s[t + 4] = i < n ? in[i] : 0.0f;
    if (t < 4) {
        s[t] = i >= 4 && i - 4 < n ? in[i - 4] : 0.0f;
        s[size + t + 4] = i + size < n ? in[i + size] : 0.0f;
    }
    __syncthreads();
    float sum = 0.0f;
    for (int k = 0; k <= 8; k++)
        sum += s[t + k];
    if (i < n)
        out[i] = sum;
}

// All elements move down by one, into another array.
__global__ void shiftedDown_ordered(float* out, const float* a, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i + 1 < n)
        out[i] = a[i + 1];
}

// A thread for each pair of mirror images exchanges the two.
__global__ void reversedArray_ordered(int* a, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n / 2) {
        int mine = a[i];
        a[i] = a[n - 1 - i];
        a[n - 1 - i] = mine;
    }
}

// The mean of four neighbours, into another array.
__global__ void fivePoints_ordered(float* out, const float* a, int w, int h) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x > 0 && x < w - 1 && y > 0 && y < h - 1)
        out[y * w + x] = 0.25f * (a[(y - 1) * w + x] + a[(y + 1) * w + x] + a[y * w + x - 1] + a[y * w + x + 1]);
}

// Every thread adds up the row; none divides before all are done.
__global__ void dividedRow_ordered(float* x, int n) {
    float sum = 0.0f;
    for (int k = 0; k < n; k++)
        sum += x[blockIdx.x * n + k];
    __syncthreads();
    for (int i = threadIdx.x; i < n; i += blockDim.x)
        x[blockIdx.x * n + i] /= sum;
}

// A tile is stored by rows and read by columns after a barrier. A block is as large as a tile.
template <int Tile> __global__ void turnedTile_ordered(float* out, const float* in, int w, int h) {
    __shared__ float tile[Tile][Tile];
    int x = blockIdx.x * Tile + threadIdx.x, y = blockIdx.y * Tile + threadIdx.y;
    if (x < w && y < h)
        tile[threadIdx.y][threadIdx.x] = in[y * w + x];
    __syncthreads();
    x = blockIdx.y * Tile + threadIdx.x;
    y = blockIdx.x * Tile + threadIdx.y;
    if (x < h && y < w)
        out[y * h + x] = tile[threadIdx.x][threadIdx.y];
}
template __global__ void turnedTile_ordered<16>(float*, const float*, int, int);

// A thread takes four differences. The elements themselves stay as they are.
__global__ void differencesOfFour_ordered(double* out, const double* a, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i > 0 && 4 * i + 3 < n)
        for (int k = 3; k >= 0; k--)
            out[4 * i + k] = a[4 * i + k] - a[4 * i + k - 1];
}

// The pairs of a phase overlap those of the phase before, which a barrier separates from it.
__global__ void oddEvenSort_ordered(int* a) {
    __shared__ int s[128];
    int t = threadIdx.x, size = 2 * blockDim.x, first = blockIdx.x * size;
    s[2 * t] = a[first + 2 * t];
    s[2 * t + 1] = a[first + 2 * t + 1];
    __syncthreads();
    for (int phase = 0; phase < size; phase++) {
        int i = 2 * t + phase % 2;
        if (i + 1 < size) {
            int low = s[i], high = s[i + 1];
            s[i] = min(low, high);
            s[i + 1] = max(low, high);
        }
        __syncthreads();
    }
    a[first + 2 * t] = s[2 * t];
    a[first + 2 * t + 1] = s[2 * t + 1];
}

// Steps of a bitonic sort: in each, one thread of a pair exchanges both elements.
template <int Size> __global__ void __launch_bounds__(Size) bitonicSteps_ordered(float* a) {
    __shared__ float s[Size];
    int t = threadIdx.x, size = blockDim.x;
    s[t] = a[blockIdx.x * size + t];
    __syncthreads();
    for (int k = 2; k <= Size; k *= 2)
        for (int j = k / 2; j > 0; j /= 2) {
            int other = t ^ j;
            if (other > t && other < size) {
                float mine = s[t], theirs = s[other];
                bool up = (t & k) == 0;
                s[t] = up ? fminf(mine, theirs) : fmaxf(mine, theirs);
                s[other] = up ? fmaxf(mine, theirs) : fminf(mine, theirs);
            }
            __syncthreads();
        }
    a[blockIdx.x * size + t] = s[t];
}
template __global__ void bitonicSteps_ordered<128>(float*);

// The load is two tiles ahead, and there are three stages.
__global__ void __launch_bounds__(128) stagesOfRing_ordered(float* out, const float* in, int tiles) {
    __shared__ float stage[3][128];
    int t = threadIdx.x, size = blockDim.x;
    const float* from = in + blockIdx.x * tiles * size;
    float sum = 0.0f;
    stage[0][t] = from[t];
    stage[1][t] = tiles > 1 ? from[size + t] : 0.0f;
    __syncthreads();
    for (int k = 0; k < tiles; k++) {
        if (k + 2 < tiles)
            stage[(k + 2) % 3][t] = from[(k + 2) * size + t];
        sum += stage[k % 3][size - 1 - t];
        __syncthreads();
    }
    out[blockIdx.x * size + t] = sum;
}

// The counters begin after the sums.
__global__ void carvedPool_ordered(double* out, const double* in) {
    extern __shared__ double pool[];
    double* sums = pool;
    int* counts = (int*)(sums + blockDim.x);
    int t = threadIdx.x, size = blockDim.x, i = blockIdx.x * size + t;
    sums[t] = in[i];
    counts[t] = i;
    __syncthreads();
    out[i] = sums[size - 1 - t] / (counts[size - 1 - t] + 1);
}
