// Parts of arrays: padding, concatenation, slices, quantities of other types.

// launch: block=32 w~1..30 rows~1..5 pad~0..6 grid=rows in[rows*w] out[rows*(w+pad)]
__global__ void padRows(const float *in, float *out, int w, int pad) {
  for (int c = threadIdx.x; c < w + pad; c += blockDim.x) out[blockIdx.x * (w + pad) + c] = c < w ? in[blockIdx.x * w + c] : 0.0f;
}

// launch: block=64 n~size m~size grid=cover(n+m,64) a[n] b[m] out[n+m]
__global__ void concatenate(const int *a, const int *b, int *out, int n, int m) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = a[i];
  else if (i < n + m) out[i] = b[i - n];
}

// launch: block=64 n~size m~size grid=cover(n+m,64) in[n+m] a[n] b[m]
__global__ void split(const int *in, int *a, int *b, int n, int m) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) a[i] = in[i];
  else if (i < n + m) b[i - n] = in[i];
}

// launch: block=64 first~0..20 step~1..4 n~1..70 grid=cover(n,64) in[first+step*n] out[n]
__global__ void slice(const float *in, float *out, int first, int step, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = in[first + i * step];
}

// launch: block=64 half~1..120 grid=cover(half,64) a[2*half]
__global__ void upperFromLower(int *a, int half) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < half) a[half + i] = 3 * a[i];
}

// launch: block=64 n~1..120 shift~1..150 grid=cover(n,64) a[n+shift]
// selvage: assume(shift >= n)
__global__ void shiftUp(int *a, int n, int shift) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) a[i + shift] = a[i];
}

// launch: block=32 w~2..30 rows~1..5 grid=rows m[rows*w]
__global__ void lastColumnFromFirst(int *m, int w) {
  if (threadIdx.x == 0) m[blockIdx.x * w + w - 1] = m[blockIdx.x * w] + 1;
}

// launch: block=64 n~size grid=cover(n,64) in[n] out[n] scale=f:0.25
__global__ void quantise(const float *in, signed char *out, float scale, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = (signed char)fminf(fmaxf(rintf(in[i] / scale), -128.0f), 127.0f);
}

// launch: block=32 w~1..40 rows~1..4 grid=rows in[rows*w] scales[rows] out[rows*w]
__global__ void dequantiseRows(const signed char *in, const float *scales, float *out, int w) {
  for (int c = threadIdx.x; c < w; c += blockDim.x) out[blockIdx.x * w + c] = in[blockIdx.x * w + c] * scales[blockIdx.x];
}

// launch: block=64 grid=1..3 in[threads] out[threads/2]
__global__ void packNibbles(const unsigned char *in, unsigned char *out) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i % 2 == 0) out[i / 2] = (in[i] & 15) | (in[i + 1] << 4);
}

// launch: block=64 n~size grid=cover(n,64) in[n] out[n]
__global__ void narrowLongs(const long long *in, short *out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = (short)in[i];
}

// launch: block=64 n~size offset~0..50 grid=cover(n,64) a[n+offset] b[n]
__global__ void writeWithOffset(double *a, const double *b, unsigned offset, unsigned n) {
  unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) a[offset + i] = b[i] * 0.5;
}

// launch: block=32 heads~1..3 dim=8 tokens~1..4 grid=tokens,heads x[tokens*heads*dim] angles[tokens*4] out[tokens*heads*dim]
__global__ void rotary(const float *x, const float *angles, float *out, int heads, int dim) {
  int i = threadIdx.x;
  if (i >= dim / 2) return;
  int base = (blockIdx.x * heads + blockIdx.y) * dim;
  float s = sinf(angles[blockIdx.x * (dim / 2) + i]), c = cosf(angles[blockIdx.x * (dim / 2) + i]);
  float a = x[base + i], b = x[base + i + dim / 2];
  out[base + i] = a * c - b * s;
  out[base + i + dim / 2] = a * s + b * c;
}

// launch: block=32 dim=8 tokens~1..4 grid=tokens q[tokens*dim] angles[tokens*4]
__global__ void rotaryInPlace(float *q, const float *angles, int dim) {
  int i = threadIdx.x;
  if (i >= dim / 2) return;
  float angle = angles[blockIdx.x * (dim / 2) + i], s = sinf(angle), c = cosf(angle);
  float *row = q + blockIdx.x * dim;
  float a = row[i], b = row[i + dim / 2];
  row[i] = a * c - b * s;
  row[i + dim / 2] = a * s + b * c;
}

// launch: block=32 tokens~1..5 dim~1..8 grid=tokens q[tokens*dim] k[tokens*dim] v[tokens*dim] out[tokens*dim]
__global__ void attentionRow(const float *q, const float *k, const float *v, float *out, int tokens, int dim) {
  __shared__ float p[32];
  int t = threadIdx.x;
  float score = 0;
  if (t < tokens)
    for (int d = 0; d < dim; d++) score += q[blockIdx.x * dim + d] * k[t * dim + d];
  p[t] = t < tokens ? expf(score * 0.01f) : 0.0f;
  __syncthreads();
  float sum = 0;
  for (int j = 0; j < tokens; j++) sum += p[j];
  if (t >= dim) return;
  float value = 0;
  for (int j = 0; j < tokens; j++) value += p[j] * v[j * dim + t];
  out[blockIdx.x * dim + t] = value / sum;
}

// launch: block=32 at~0..5 dim~1..32 length~6..9 cache[length*dim] k[dim] grid=1
__global__ void appendToCache(float *cache, const float *k, int at, int dim) {
  if (threadIdx.x < dim) cache[at * dim + threadIdx.x] = k[threadIdx.x];
}

// launch: block=32 at~1..5 dim~1..32 length~6..9 cache[length*dim] grid=1
__global__ void nextFromPrevious(float *cache, int at, int dim) {
  if (threadIdx.x < dim) cache[at * dim + threadIdx.x] = 2.0f * cache[(at - 1) * dim + threadIdx.x];
}

// launch: block=64 k~{2,4,8,16,32,64} j~{1,2,4} grid=1 keys[64]
__global__ void bitonicStep(int *keys, int j, int k) {
  int i = threadIdx.x, other = i ^ j;
  if (other > i) {
    int a = keys[i], b = keys[other];
    if ((a > b) == ((i & k) == 0)) {
      keys[i] = b;
      keys[other] = a;
    }
  }
}

// launch: block=32 n~2..64 phase~0..1 grid=1 keys[n]
__global__ void oddEvenStep(int *keys, int n, int phase) {
  int i = 2 * threadIdx.x + phase;
  if (i + 1 < n && keys[i] > keys[i + 1]) {
    int t = keys[i];
    keys[i] = keys[i + 1];
    keys[i + 1] = t;
  }
}

// launch: block=64 grid=1..3 keys[threads] ranked[threads]
__global__ void rankSortBlocks(const int *keys, int *ranked) {
  __shared__ int s[64];
  int base = blockIdx.x * 64, own = keys[base + threadIdx.x];
  s[threadIdx.x] = own;
  __syncthreads();
  int rank = 0;
  for (int i = 0; i < 64; i++) rank += s[i] < own || (s[i] == own && i < threadIdx.x);
  ranked[base + rank] = own;
}

// launch: block=4,4,2 nx~1..6 ny~1..6 nz~1..4 grid=cover(nx,4),cover(ny,4),cover(nz,2) in[nx*ny*nz] out[nx*ny*nz]
__global__ void flipVolume(const int *in, int *out, int nx, int ny, int nz) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  int z = blockIdx.z * blockDim.z + threadIdx.z;
  if (x < nx && y < ny && z < nz) out[((nz - 1 - z) * ny + y) * nx + x] = in[(z * ny + y) * nx + x];
}
