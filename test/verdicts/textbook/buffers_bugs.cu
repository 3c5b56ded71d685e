// expect: relaxedLine_unordered race=race divergence=proved
// expect: relaxedLine_unordered finding race/shared error on s lines 39
// expect: wideHalo_unordered race=race divergence=proved
// expect: wideHalo_unordered finding race/shared error on s lines 49,51,52,56
// expect: shiftedDown_unordered race=race divergence=proved
// expect: shiftedDown_unordered finding race/global error on a lines 65
// expect: reversedArray_unordered race=race divergence=proved
// expect: reversedArray_unordered finding race/global error on a lines 72
// expect: fivePoints_unordered race=race divergence=proved
// expect: fivePoints_unordered finding race/global error on a lines 79
// expect: dividedRow_unordered race=race divergence=proved
// expect: dividedRow_unordered finding race/global error on x lines 86,88
// expect: turnedTile_unordered<16> race=race divergence=proved
// expect: turnedTile_unordered<16> finding race/shared error on tile lines 96,100
// expect: differencesOfFour_unordered race=race divergence=proved
// expect: differencesOfFour_unordered finding race/global error on a lines 109
// expect: oddEvenSort_unordered race=race divergence=proved
// expect: oddEvenSort_unordered finding race/shared error on s lines 122,123,124
// expect: bitonicSteps_unordered<128> race=race divergence=proved
// expect: bitonicSteps_unordered<128> finding race/shared error on s lines 142,144,145
// expect: stagesOfRing_unordered race=race divergence=proved
// expect: stagesOfRing_unordered finding race/shared error on stage lines 164,165
// expect: carvedPool_unordered race=race divergence=proved
// expect: carvedPool_unordered finding race/shared error on pool lines 177,178
//
// Textbook races in buffers, stencils, sorts and updates in place. Each one happens at every large size.

// Two buffers take turns, and no barrier separates an iteration from the next one.
__global__ void __launch_bounds__(128) relaxedLine_unordered(float* a, int steps) {
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
    }
    a[i] = s[now][t + 1];
}

// The sum of nine neighbours, before the elements and the halo have been loaded by all threads.
__global__ void wideHalo_unordered(float* out, const float* in, int n) {
    __shared__ float s[264];
    int t = threadIdx.x, size = blockDim.x, i = blockIdx.x * size + t;
    s[t + 4] = i < n ? in[i] : 0.0f;
    if (t < 4) {
        s[t] = i >= 4 && i - 4 < n ? in[i - 4] : 0.0f;
        s[size + t + 4] = i + size < n ? in[i + size] : 0.0f;
    }
    float sum = 0.0f;
    for (int k = 0; k <= 8; k++)
        sum += s[t + k];
    if (i < n)
        out[i] = sum;
}

// All elements move down by one in place: the next thread may have stored the one that this thread reads.
__global__ void shiftedDown_unordered(float* a, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i + 1 < n)
        a[i] = a[i + 1];
}

// Every element goes to its mirror image, which the thread of that place reads.
__global__ void reversedArray_unordered(int* a, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        a[n - 1 - i] = a[i];
}

// The mean of four neighbours in place: threads store what their neighbours read.
__global__ void fivePoints_unordered(float* a, int w, int h) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x > 0 && x < w - 1 && y > 0 && y < h - 1)
        a[y * w + x] = 0.25f * (a[(y - 1) * w + x] + a[(y + 1) * w + x] + a[y * w + x - 1] + a[y * w + x + 1]);
}

// Every thread adds up the row, while those that are done divide its elements already.
__global__ void dividedRow_unordered(float* x, int n) {
    float sum = 0.0f;
    for (int k = 0; k < n; k++)
        sum += x[blockIdx.x * n + k];
    for (int i = threadIdx.x; i < n; i += blockDim.x)
        x[blockIdx.x * n + i] /= sum;
}

// A tile is read by columns before its rows have been stored.
template <int Tile> __global__ void turnedTile_unordered(float* out, const float* in, int w, int h) {
    __shared__ float tile[Tile][Tile];
    int x = blockIdx.x * Tile + threadIdx.x, y = blockIdx.y * Tile + threadIdx.y;
    if (x < w && y < h)
        tile[threadIdx.y][threadIdx.x] = in[y * w + x];
    x = blockIdx.y * Tile + threadIdx.x;
    y = blockIdx.x * Tile + threadIdx.y;
    if (x < h && y < w)
        out[y * h + x] = tile[threadIdx.x][threadIdx.y];
}
template __global__ void turnedTile_unordered<16>(float*, const float*, int, int);

// A thread replaces four elements by differences. The first one needs the last element of the thread before.
__global__ void differencesOfFour_unordered(double* a, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i > 0 && 4 * i + 3 < n)
        for (int k = 3; k >= 0; k--)
            a[4 * i + k] -= a[4 * i + k - 1];
}

// The pairs of a phase overlap those of the phase before, and no barrier separates the two.
__global__ void oddEvenSort_unordered(int* a) {
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
    }
    __syncthreads();
    a[first + 2 * t] = s[2 * t];
    a[first + 2 * t + 1] = s[2 * t + 1];
}

// Steps of a bitonic sort that do not wait for each other.
template <int Size> __global__ void __launch_bounds__(Size) bitonicSteps_unordered(float* a) {
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
        }
    __syncthreads();
    a[blockIdx.x * size + t] = s[t];
}
template __global__ void bitonicSteps_unordered<128>(float*);

// Two stages, and the load is two tiles ahead: it goes to the stage that this iteration reads.
__global__ void __launch_bounds__(128) stagesOfRing_unordered(float* out, const float* in, int tiles) {
    __shared__ float stage[2][128];
    int t = threadIdx.x, size = blockDim.x;
    const float* from = in + blockIdx.x * tiles * size;
    float sum = 0.0f;
    stage[0][t] = from[t];
    stage[1][t] = tiles > 1 ? from[size + t] : 0.0f;
    __syncthreads();
    for (int k = 0; k < tiles; k++) {
        if (k + 2 < tiles)
            stage[(k + 2) % 2][t] = from[(k + 2) * size + t];
        sum += stage[k % 2][size - 1 - t];
        __syncthreads();
    }
    out[blockIdx.x * size + t] = sum;
}

// The counters begin in the middle of the sums, for any size of the block.
__global__ void carvedPool_unordered(double* out, const double* in) {
    extern __shared__ double pool[];
    double* sums = pool;
    int* counts = (int*)(sums + blockDim.x / 2);
    int t = threadIdx.x, size = blockDim.x, i = blockIdx.x * size + t;
    sums[t] = in[i];
    counts[t] = i;
    __syncthreads();
    out[i] = sums[size - 1 - t] / (counts[size - 1 - t] + 1);
}
