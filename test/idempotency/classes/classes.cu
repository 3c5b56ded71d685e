// Kernels on both sides of each line of the classification. `// class: NAME CLASS [REASON]`.
#include <cstdio>

// class: vectorSet idempotent
__global__ void vectorSet(int *a, int value) { a[blockIdx.x * blockDim.x + threadIdx.x] = value; }

// class: vectorInc undecided read-then-write
__global__ void vectorInc(int *a, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) a[i] = a[i] + 1;
}

// class: vectorAdd conditional
__global__ void vectorAdd(float *a, const float *b, const float *c, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) a[i] = b[i] + c[i];
}

// class: evenFromOdd conditional
__global__ void evenFromOdd(int *p) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  p[2 * i] = p[2 * i + 1];
}

// class: writtenFirst conditional
__global__ void writtenFirst(int *p, int *q) {
  p[threadIdx.x] = threadIdx.x;
  __syncthreads();
  q[threadIdx.x] = p[(threadIdx.x + 1) % blockDim.x];
}

// class: writtenFirstAndAgain conditional
__global__ void writtenFirstAndAgain(int *p) {
  int t = threadIdx.x;
  p[t] = t;
  __syncthreads();
  int x = p[t ^ 1];
  __syncthreads();
  p[t] = x + 1;
}

// class: readFirst undecided read-then-write
__global__ void readFirst(int *p) {
  int t = threadIdx.x;
  int x = p[t ^ 1];
  __syncthreads();
  p[t] = x + 1;
}

// class: writtenInPart undecided read-then-write
__global__ void writtenInPart(int *p) {
  int t = threadIdx.x;
  if (t != 5) p[t] = t;
  __syncthreads();
  int x = p[t ^ 1];
  __syncthreads();
  p[t] = x + 1;
}

// class: sides conditional
__global__ void sides(int *p, const int *q, int lower, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < lower) p[i] = 1;
  else if (i < n) p[i] = q[i];
}

// class: maximum conditional
__global__ void maximum(int *m, const int *x, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) atomicMax(m, x[i]);
}

// class: maximumRead undecided atomic
__global__ void maximumRead(int *m, int *x, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) x[i] = atomicMax(m, i);
}

// class: count undecided atomic
__global__ void count(int *m, const int *x, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n && x[i] > 0) atomicAdd(m, 1);
}

// class: print undecided effect
__global__ void print(int *a) {
  a[threadIdx.x] = 1;
  printf("done\n");
}

// class: readClock undecided effect
__global__ void readClock(long long *a) { a[threadIdx.x] = clock64(); }

// class: stops undecided effect
__global__ void stops(int *a, int n) {
  if (n < 0) __trap();
  a[threadIdx.x] = n;
}

// class: polls undecided effect
__global__ void polls(volatile int *a, int *b) {
  b[threadIdx.x] = a[threadIdx.x];
  a[threadIdx.x] = 1;
}

// class: relu idempotent
__global__ void relu(float *x, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) x[i] = fmaxf(x[i], 0.0f);
}

// class: clampStrided idempotent
__global__ void clampStrided(float *x, float low, float high, int n) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
    x[i] = fminf(fmaxf(x[i], low), high);
}

// class: absolute idempotent
__global__ void absolute(int *x, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) x[i] = abs(x[i]);
}

// class: negate undecided read-then-write
__global__ void negate(int *x, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) x[i] = -x[i];
}

// class: setNegative idempotent
__global__ void setNegative(int *x, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n && x[i] < 0) x[i] = 7;
}

// class: reluWithMask undecided read-then-write
__global__ void reluWithMask(float *x, int *mask, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  mask[i] = x[i] < 0.0f;
  x[i] = fmaxf(x[i], 0.0f);
}

// class: reluOfNeighbour undecided read-then-write
__global__ void reluOfNeighbour(float *x) {
  int i = threadIdx.x;
  float y = x[i + 1];
  __syncthreads();
  x[i] = fmaxf(y, 0.0f);
}

// class: copy conditional
__global__ void copy(int *out, const int *in, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = in[i];
}

// class: sum conditional
__global__ void sum(float *out, const float *in, int n) {
  extern __shared__ float s[];
  int t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
  s[t] = i < n ? in[i] : 0.0f;
  __syncthreads();
  for (int k = blockDim.x / 2; k > 0; k >>= 1) {
    if (t < k) s[t] += s[t + k];
    __syncthreads();
  }
  if (t == 0) out[blockIdx.x] = s[0];
}

// class: sumOfSome undecided uninitialised-shared
__global__ void sumOfSome(float *out, const float *in, int n) {
  __shared__ float s[256];
  int t = threadIdx.x, i = blockIdx.x * 256 + t;
  if (i < n) s[t] = in[i];
  __syncthreads();
  for (int k = 128; k > 0; k >>= 1) {
    if (t < k) s[t] += s[t + k];
    __syncthreads();
  }
  if (t == 0) out[blockIdx.x] = s[0];
}

// class: product conditional
__global__ void product(float *c, const float *a, const float *b, int n) {
  __shared__ float as[16][16], bs[16][16];
  int x = threadIdx.x, y = threadIdx.y, row = blockIdx.y * 16 + y, column = blockIdx.x * 16 + x;
  float sum = 0;
  for (int m = 0; m < (n + 15) / 16; m++) {
    as[y][x] = row < n && m * 16 + x < n ? a[row * n + m * 16 + x] : 0.0f;
    bs[y][x] = column < n && m * 16 + y < n ? b[(m * 16 + y) * n + column] : 0.0f;
    __syncthreads();
    for (int k = 0; k < 16; k++) sum += as[y][k] * bs[k][x];
    __syncthreads();
  }
  if (row < n && column < n) c[row * n + column] = sum;
}

// class: transpose conditional
__global__ void transpose(float *out, const float *in, int w, int h) {
  __shared__ float tile[32][33];
  int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 32 + threadIdx.y;
  for (int j = 0; j < 32; j += 8)
    if (x < w && y + j < h) tile[threadIdx.y + j][threadIdx.x] = in[(y + j) * w + x];
  __syncthreads();
  x = blockIdx.y * 32 + threadIdx.x, y = blockIdx.x * 32 + threadIdx.y;
  for (int j = 0; j < 32; j += 8)
    if (x < h && y + j < w) out[(y + j) * h + x] = tile[threadIdx.x][threadIdx.y + j];
}

// class: transposeOfMore undecided uninitialised-shared
__global__ void transposeOfMore(float *out, const float *in, int w, int h) {
  __shared__ float tile[32][33];
  int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 32 + threadIdx.y;
  for (int j = 0; j < 32; j += 8)
    if (x < w && y + j < h) tile[threadIdx.y + j][threadIdx.x] = in[(y + j) * w + x];
  __syncthreads();
  x = blockIdx.y * 32 + threadIdx.x, y = blockIdx.x * 32 + threadIdx.y;
  for (int j = 0; j < 32; j += 8)
    if (x <= h && y + j < w) out[(y + j) * h + x] = tile[threadIdx.x][threadIdx.y + j];
}

// class: histogram conditional
__global__ void histogram(unsigned *out, const unsigned char *in, int n) {
  __shared__ unsigned bins[256];
  for (int i = threadIdx.x; i < 256; i += blockDim.x) bins[i] = 0;
  __syncthreads();
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) atomicAdd(&bins[in[i]], 1);
  __syncthreads();
  for (int i = threadIdx.x; i < 256; i += blockDim.x) out[blockIdx.x * 256 + i] = bins[i];
}

// class: histogramWithoutLast undecided uninitialised-shared
__global__ void histogramWithoutLast(unsigned *out, const unsigned char *in, int n) {
  __shared__ unsigned bins[256];
  for (int i = threadIdx.x; i < 255; i += blockDim.x) bins[i] = 0;
  __syncthreads();
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) atomicAdd(&bins[in[i]], 1);
  __syncthreads();
  for (int i = threadIdx.x; i < 256; i += blockDim.x) out[blockIdx.x * 256 + i] = bins[i];
}

// class: floatHistogram undecided atomic
__global__ void floatHistogram(float *out, const unsigned char *in) {
  __shared__ float bins[256];
  for (int i = threadIdx.x; i < 256; i += blockDim.x) bins[i] = 0;
  __syncthreads();
  atomicAdd(&bins[in[threadIdx.x]], 0.1f);
  __syncthreads();
  for (int i = threadIdx.x; i < 256; i += blockDim.x) out[i] = bins[i];
}

// class: scan conditional
__global__ void scan(int *out, const int *in) {
  __shared__ int s[256];
  int t = threadIdx.x;
  s[t] = in[blockIdx.x * 256 + t];
  __syncthreads();
  for (int k = 1; k < 256; k <<= 1) {
    int v = t >= k ? s[t - k] : 0;
    __syncthreads();
    s[t] += v;
    __syncthreads();
  }
  out[blockIdx.x * 256 + t] = s[t];
}

// class: scanWithoutBarrier undecided uninitialised-shared
__global__ void scanWithoutBarrier(int *out, const int *in) {
  __shared__ int s[256];
  int t = threadIdx.x;
  s[t] = in[t];
  int v = t >= 1 ? s[t - 1] : 0;
  __syncthreads();
  out[t] = s[t] + v;
}

// class: stencil conditional
__global__ void stencil(float *out, const float *in, int n) {
  __shared__ float s[256];
  int i = blockIdx.x * 256 + threadIdx.x, t = threadIdx.x;
  if (i < n) s[t] = in[i];
  __syncthreads();
  if (i >= n) return;
  float sum = s[t];
  if (t > 0) sum += s[t - 1];
  if (t < 255 && i + 1 < n) sum += s[t + 1];
  out[i] = sum;
}

// class: stencilBeyond undecided uninitialised-shared
__global__ void stencilBeyond(float *out, const float *in, int n) {
  __shared__ float s[256];
  int i = blockIdx.x * 256 + threadIdx.x, t = threadIdx.x;
  if (i < n) s[t] = in[i];
  __syncthreads();
  if (i >= n) return;
  float sum = s[t];
  if (t < 255) sum += s[t + 1];
  out[i] = sum;
}

// class: blockMaximum conditional
__global__ void blockMaximum(float *out, const float *in) {
  __shared__ float s[32];
  float m = in[blockIdx.x * blockDim.x + threadIdx.x];
  for (int d = 16; d > 0; d >>= 1) m = fmaxf(m, __shfl_xor_sync(0xffffffffu, m, d));
  if (threadIdx.x % 32 == 0) s[threadIdx.x / 32] = m;
  __syncthreads();
  m = threadIdx.x < blockDim.x / 32 ? s[threadIdx.x] : -1e30f;
  for (int d = 16; d > 0; d >>= 1) m = fmaxf(m, __shfl_xor_sync(0xffffffffu, m, d));
  if (threadIdx.x == 0) out[blockIdx.x] = m;
}

// class: byteBesideOwnWord conditional
__global__ void byteBesideOwnWord(char *p, int k) {
  long i = 64l * (blockIdx.x * blockDim.x + threadIdx.x);
  p[i + k] = *(int *)(p + i);
}
