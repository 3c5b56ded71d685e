// Kernels that an unsound bound would underestimate.

// selvage: block=50 grid=1
__global__ void breaks(int *out, const int *a, int n) {
    int sum = 0;
    for (int i = 0; i < n; i++) {
        if (a[i + threadIdx.x] == 3) break;
        if (a[i] == (int)threadIdx.x % 5) continue;
        sum += a[i * 2];
    }
    out[threadIdx.x] = sum;
}

// selvage: block=64 grid=1
__global__ void triangle(int *out, const int *a, int n) {
    int sum = 0;
    for (int i = 0; i < n; i++)
        for (int j = i; j < n; j += 2)
            for (int k = j; k < i + 4; k++) sum += a[k];
    out[threadIdx.x] = sum;
}

// selvage: block=64 grid=1
__global__ void triangleByLane(int *out, const int *a, int n) {
    int sum = 0;
    for (int i = threadIdx.x % 7; i < n; i += 1 + threadIdx.x % 3)
        for (int j = 0; j < i; j++) sum += a[i + j];
    out[threadIdx.x] = sum;
}

// selvage: block=7,5,3 grid=2,2
__global__ void boxes(int *out, const int *a, int n) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < n && y < n) out[(y * n + x) * 3 + threadIdx.z] = a[x * n + y];
}

// selvage: block=10,10 grid=1
__global__ void rowsAndColumns(float *out, const float *a, int w) {
    __shared__ float tile[10][11];
    tile[threadIdx.y][threadIdx.x] = a[(blockIdx.y * 10 + threadIdx.y) * w + threadIdx.x];
    __syncthreads();
    out[(blockIdx.x * 10 + threadIdx.x) * w + threadIdx.y] = tile[threadIdx.x][threadIdx.y];
}

// selvage: block=64 grid=1
__global__ void ways(int *out, const int *a, int n) {
    int t = threadIdx.x, v = 0;
    switch (a[t] & 7) {
    case 0: v = a[t + n]; break;
    case 1: v = a[2 * t]; break;
    case 2: v = -t;
    case 3: v += a[t * 33]; break;
    case 4: out[t] = 55; return;
    case 7: v = a[t ^ 5]; break;
    default: v = 9;
    }
    out[t] = v;
}

// selvage: block=64 grid=1
__global__ void unaligned(int4 *out, const int4 *a, const int2 *b, int n) {
    int t = threadIdx.x;
    int4 v = a[t + n];
    int2 w = b[t * 3 + n];
    v.x += w.x;
    v.y += w.y;
    out[t * 2 + 1] = v;
}

struct Odd {
    char c[3];
};

// selvage: block=45 grid=1
__global__ void bytes(char *out, const Odd *a, int n) {
    int t = threadIdx.x;
    out[t * 5 + n] = a[t + n].c[1] + a[t * 7].c[2];
}

// selvage: block=64 grid=1
__global__ void wideShared(double *out, const double *a, int n) {
    __shared__ double s[64 * 17];
    __shared__ float4 f[64 * 3];
    int t = threadIdx.x;
    s[t * 17] = a[t];
    f[t * 3] = make_float4(t, n, t, n);
    __syncthreads();
    s[t] += s[(t * 5) % 64] + f[(t * 7) % 64].x;
    __syncthreads();
    out[t] = s[t ^ 1] + f[63 - t].w + s[(t & 15) * 17];
}

// selvage: block=64 grid=1
__global__ void narrowShared(unsigned char *out, const unsigned char *a, int n) {
    __shared__ unsigned char s[64 * 9];
    __shared__ short h[64 * 5];
    int t = threadIdx.x;
    s[t * 9] = a[t];
    h[t * 5] = a[t + n];
    __syncthreads();
    out[t] = s[t] + h[(t * 3) % 64] + s[(t * 2) & 63];
}

// selvage: block=64 grid=1
__global__ void counters(int *out, const int *a, int n) {
    __shared__ int bins[32];
    if (threadIdx.x < 32) bins[threadIdx.x] = 0;
    __syncthreads();
    for (int i = threadIdx.x; i < n; i += 64) atomicAdd(&bins[a[i] & 31], 1);
    __syncthreads();
    if (threadIdx.x < 32) atomicAdd(&out[threadIdx.x * 3], bins[threadIdx.x]);
    atomicMax(&out[a[threadIdx.x] & 15], n);
}

__noinline__ __device__ int depth(const int *a, int n) { return n < 2 ? a[n & 3] : a[n] + (a[n] > 1 ? a[n / 2] : 0); }

// selvage: block=64 grid=1
__global__ void calls(int *out, const int *a, int n) {
    int v = 0;
    for (int i = 0; i < n; i += 3) v += depth(a, i + threadIdx.x);
    out[threadIdx.x] = v + depth(a, n);
}

__device__ int recursive(const int *a, int n) { return n < 1 ? 0 : a[n] + recursive(a, n / 2); }

// selvage: block=32 grid=1
__global__ void recursion(int *out, const int *a, int n) { out[threadIdx.x] = recursive(a, n); }

// selvage: block=64 grid=1
__global__ void selected(int *out, const int *a, int n) {
    int t = threadIdx.x;
    int k = a[t] > 1 ? t * 2 : n;
    out[k] = a[k] > n ? a[t * 4] : t;
    if (t & 1) out[t + 200] = 1;
    if (a[t] & 1) out[t + 300] = 2;
}

// selvage: block=96 grid=1
__global__ void earlyInside(int *out, const int *a, int n) {
    int t = threadIdx.x, sum = 0;
    if (t < n) {
        if (a[t] == 0) return;
        sum = a[t * 2];
        if (a[t + 1] == 1) {
            out[t] = 1;
            return;
        }
    } else {
        sum = a[t * 3];
    }
    for (int i = 0; i < 4; i++) {
        if (t > i) {
            if (a[i * t] == 2) break;
            sum += a[i + t];
        }
        sum += a[i * 32 + t];
    }
    out[t * 2] = sum;
}

// selvage: block=64 grid=1
__global__ void downwards(int *out, const int *a, int n) {
    int sum = 0;
    for (int i = n; i > 0; i /= 3) sum += a[i];
    for (unsigned i = 1; i < (unsigned)n; i *= 2) sum += a[i];
    for (int i = n - 1; i >= 0; i -= 4) sum += a[i * 2];
    for (int s = 32; s > 0; s >>= 1)
        if (threadIdx.x < s) sum += a[threadIdx.x + s];
    out[threadIdx.x] = sum;
}

// selvage: block=64 grid=1
__global__ void unrolled(float *out, const float *a, int n) {
    float sum = 0;
#pragma unroll 4
    for (int i = 0; i < n; i++) sum += a[i * 64 + threadIdx.x];
    float product = 1;
    for (int i = threadIdx.x; i < n; i += blockDim.x) product *= a[i];
    out[threadIdx.x] = sum + product;
}

// selvage: block=33 grid=1
__global__ void lastLane(int *out, const int *a, int n) {
    int t = threadIdx.x;
    if (t == 32)
        for (int i = 0; i < n; i++) out[i * 16] = a[i * 8];
    if (t == 31)
        for (int i = 0; i < 2 * n; i++) out[i * 16 + 1] = a[i * 8];
}

// selvage: block=64 grid=1
__global__ void shuffles(int *out, const int *a, int n) {
    int t = threadIdx.x, v = a[t];
    for (int d = 16; d > 0; d >>= 1) v += __shfl_down_sync(0xffffffffu, v, d);
    if (__any_sync(0xffffffffu, v > n)) v += a[t + 7];
    if (t % 32 < 16) v += __shfl_xor_sync(0x0000ffffu, v, 1);
    out[t] = v;
}

/// Another condition, after the limit of the loop, ends it.
// selvage: block=64 grid=1
__global__ void awayFromLimit(int *out, const int *a, int n) {
    int i = 0, s = 0;
    while (i != n && a[-i & 63] > 0) {
        s += a[-i & 31];
        i--;
    }
    out[threadIdx.x] = s;
}

/// The header of the inner loop begins the next iteration of the outer one: lanes that leave it first wait there.
// selvage: block=96 grid=1
__global__ void leavesInnerFirst(int *out, const int *a, int n) {
    int s = 0;
    for (unsigned i = threadIdx.x & 7; i-- > 0;)
        for (int j = threadIdx.x & 31; j < n / (1 + ((int)threadIdx.x & 3)); j++) s += a[j * 3];
    out[threadIdx.x] = s;
}

/// Two back edges: lanes of the shorter path wait for those of the longer one.
// selvage: block=64 grid=1
__global__ void twoWaysRound(int *out, const int *a, int n) {
    int s = 0, i = 0;
    while (i < n) {
        if (a[i + threadIdx.x] & 1) {
            i += 2;
            continue;
        }
        s += a[i * 4];
        i++;
    }
    out[threadIdx.x] = s;
}

/// Sums with shared operands, which must not be traversed once per path.
// selvage: block=64 grid=1
__global__ void sharedSums(int *out, const int *a, int n, int m) {
    int s = threadIdx.x;
    for (int i = 2; i < 36; i += 2)
        for (int j = i + 2; j >= 0; j -= 5)
            if ((int)threadIdx.x < m) s += a[threadIdx.x + n * 9];
    for (unsigned i = 1; i < (unsigned)((n + 6) / 7); i += blockDim.x) s += __ballot_sync(0xffffffffu, s & 1);
    out[threadIdx.x] = s;
}

/// Maximums of minimums of maximums: their comparison must terminate.
// selvage: block=64 grid=1
__global__ void manyLimits(int *out, const int *a, int n, int m, int k) {
    int s = 0;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i <= (int)threadIdx.x / 6; i++) {
        if (a[threadIdx.x] > 7) continue;
        for (int j = max(i - 3, 0); j < min(i + 3, m); j++) s += a[j + k];
        for (int j = i; j >= 0; j -= 5) s += n > 4 ? a[j] : a[j + m];
    }
    out[threadIdx.x] = s;
}

/// Quotients that end at a limit, at zero, or at an integer that differs between lanes.
// selvage: block=64 grid=1
__global__ void quotients(int *out, const int *a, int n, unsigned m) {
    int s = 0;
    for (int i = n; i > 2; i /= 3) s += a[i];
    for (unsigned i = m; i != 0; i /= 10) s += a[i];
    for (int i = n + threadIdx.x; i > (int)threadIdx.x % 3; i /= 7) s += a[i];
    for (int i = n; i > 0; i = i / 3 + 1) {
        s += a[i];
        if (i < 3) break;
    }
    out[threadIdx.x] = s;
}

/// Strides per iteration, and start values of halving: neither the first lane nor the last one has most iterations.
// selvage: block=64 grid=1
__global__ void ownSteps(int *out, const int *a, int n) {
    int s = 0, t = threadIdx.x;
    for (int i = 0; i < n; i += 1 + (t + 1) % 3) s += a[i * 5];
    for (int i = 0; i < n; i += 1 + (t & 1)) s += a[i * 7];
    for (int i = t % 31; i > 5; i >>= 1) s += a[i + n];
    out[t] = s;
}

/// A case that falls through into the next one: the lanes of both reconverge, with more serialised updates.
// selvage: block=64 grid=1
__global__ void fallsThrough(int *out, int n) {
    __shared__ int own[256];
    int s = threadIdx.x;
    for (int i = 0; i < n; i++) {
        switch (threadIdx.x & 3) {
            case 0:
                s += n & threadIdx.x;
            case 1:
                atomicMax(&own[(threadIdx.x % 3) * 8], s);
            case 3:
                s = s * 7 + n;
                break;
            default:
                s++;
        }
    }
    out[threadIdx.x] = s;
}
