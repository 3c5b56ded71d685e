// Products, transposes, stencils and convolutions.

// launch: block=8,4 m~1..12 n~1..12 k~1..12 grid=cover(n,8),cover(m,4) A[m*k] B[k*n] C[m*n]
__global__ void multiply(const float *A, const float *B, float *C, int m, int n, int k) {
  int c = blockIdx.x * blockDim.x + threadIdx.x, r = blockIdx.y * blockDim.y + threadIdx.y;
  if (r >= m || c >= n) return;
  float sum = 0;
  for (int i = 0; i < k; i++) sum += A[r * k + i] * B[i * n + c];
  C[r * n + c] = sum;
}

// launch: block=8,4 m~1..12 n~1..12 k~1..12 grid=cover(n,8),cover(m,4) A[m*k] B[k*n] C[m*n] beta=f:0.5
__global__ void multiplyAndAdd(const float *A, const float *B, float *C, float beta, int m, int n, int k) {
  int c = blockIdx.x * blockDim.x + threadIdx.x, r = blockIdx.y * blockDim.y + threadIdx.y;
  if (r >= m || c >= n) return;
  float sum = 0;
  for (int i = 0; i < k; i++) sum += A[r * k + i] * B[i * n + c];
  C[r * n + c] = sum + beta * C[r * n + c];
}

// launch: block=8,8 t~1..2 n=8*t grid=t,t A[n*n] B[n*n] C[n*n]
__global__ void multiplyTiled(const float *A, const float *B, float *C, int n) {
  __shared__ float a[8][8], b[8][8];
  int r = blockIdx.y * 8 + threadIdx.y, c = blockIdx.x * 8 + threadIdx.x;
  float sum = 0;
  for (int t = 0; t < n / 8; t++) {
    a[threadIdx.y][threadIdx.x] = A[r * n + t * 8 + threadIdx.x];
    b[threadIdx.y][threadIdx.x] = B[(t * 8 + threadIdx.y) * n + c];
    __syncthreads();
    for (int i = 0; i < 8; i++) sum += a[threadIdx.y][i] * b[i][threadIdx.x];
    __syncthreads();
  }
  C[r * n + c] = sum;
}

// launch: block=32 rows~1..6 w~1..40 grid=rows m[rows*w] x[w] y[rows]
__global__ void matrixVector(const float *m, const float *x, float *y, int w) {
  float sum = 0;
  for (int c = threadIdx.x; c < w; c += 32) sum += m[blockIdx.x * w + c] * x[c];
  for (int d = 16; d > 0; d >>= 1) sum += __shfl_down_sync(0xffffffffu, sum, d);
  if (threadIdx.x == 0) y[blockIdx.x] = sum;
}

// launch: block=8,8 w~1..18 h~1..18 grid=cover(w,8),cover(h,8) in[w*h] out[w*h]
__global__ void transpose(const int *in, int *out, int w, int h) {
  int c = blockIdx.x * blockDim.x + threadIdx.x, r = blockIdx.y * blockDim.y + threadIdx.y;
  if (c < w && r < h) out[c * h + r] = in[r * w + c];
}

// launch: block=8,8 t~1..2 n=8*t grid=t,t in[n*n] out[n*n]
__global__ void transposeTiled(const int *in, int *out, int n) {
  __shared__ int tile[8][9];
  tile[threadIdx.y][threadIdx.x] = in[(blockIdx.y * 8 + threadIdx.y) * n + blockIdx.x * 8 + threadIdx.x];
  __syncthreads();
  out[(blockIdx.x * 8 + threadIdx.y) * n + blockIdx.y * 8 + threadIdx.x] = tile[threadIdx.x][threadIdx.y];
}

// launch: block=8,8 n~2..16 grid=cover(n,8),cover(n,8) m[n*n]
__global__ void transposeInPlace(int *m, int n) {
  int c = blockIdx.x * blockDim.x + threadIdx.x, r = blockIdx.y * blockDim.y + threadIdx.y;
  if (c < n && r < c) {
    int t = m[r * n + c];
    m[r * n + c] = m[c * n + r];
    m[c * n + r] = t;
  }
}

// launch: block=8,8 n~2..16 grid=cover(n,8),cover(n,8) m[n*n]
__global__ void lowerFromUpper(int *m, int n) {
  int c = blockIdx.x * blockDim.x + threadIdx.x, r = blockIdx.y * blockDim.y + threadIdx.y;
  if (c < n && r < c) m[c * n + r] = m[r * n + c];
}

// launch: block=64 n~size grid=cover(n,64) in[n] out[n]
__global__ void stencil3(const float *in, float *out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i > 0 && i < n - 1) out[i] = 0.25f * in[i - 1] + 0.5f * in[i] + 0.25f * in[i + 1];
}

// launch: block=64 grid=1..3 in[threads+4] out[threads]
__global__ void stencilTiled(const int *in, int *out) {
  __shared__ int s[68];
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  s[threadIdx.x] = in[i];
  if (threadIdx.x < 4) s[threadIdx.x + 64] = in[i + 64];
  __syncthreads();
  int sum = 0;
  for (int d = 0; d < 5; d++) sum += s[threadIdx.x + d];
  out[i] = sum;
}

// launch: block=8,8 w~3..18 h~3..18 grid=cover(w,8),cover(h,8) a[w*h] b[w*h]
__global__ void laplace(const float *a, float *b, int w, int h) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x > 0 && y > 0 && x < w - 1 && y < h - 1)
    b[y * w + x] = a[y * w + x - 1] + a[y * w + x + 1] + a[(y - 1) * w + x] + a[(y + 1) * w + x] - 4 * a[y * w + x];
}

// launch: block=8,8 n~2..16 grid=cover(n,8),cover(n,8) a[n*n] colour~0..1
__global__ void redBlackRelaxation(float *a, int n, int colour) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x > 0 && y > 0 && x < n - 1 && y < n - 1 && (x + y) % 2 == colour)
    a[y * n + x] = 0.25f * (a[y * n + x - 1] + a[y * n + x + 1] + a[(y - 1) * n + x] + a[(y + 1) * n + x]);
}

// launch: block=8,8 w~1..14 h~1..14 grid=cover(w,8),cover(h,8) in[w*h] weights[9] out[w*h]
__global__ void convolution(const float *in, const float *weights, float *out, int w, int h) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= w || y >= h) return;
  float sum = 0;
  for (int dy = -1; dy <= 1; dy++)
    for (int dx = -1; dx <= 1; dx++) {
      int r = y + dy, c = x + dx;
      if (r >= 0 && r < h && c >= 0 && c < w) sum += in[r * w + c] * weights[(dy + 1) * 3 + dx + 1];
    }
  out[y * w + x] = sum;
}

// launch: block=32 w~4..40 rows~1..4 grid=cover(w/2,32),rows in[rows*2*w] out[rows*(w/2)]
__global__ void maxPool(const float *in, float *out, int w) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, half = w / 2;
  if (x >= half) return;
  const float *row = in + blockIdx.y * 2 * w;
  out[blockIdx.y * half + x] = fmaxf(fmaxf(row[2 * x], row[2 * x + 1]), fmaxf(row[w + 2 * x], row[w + 2 * x + 1]));
}

// launch: block=32 w~2..40 rows~1..4 grid=cover(2*w,32),2*rows in[rows*w] out[4*rows*w]
__global__ void upsample(const float *in, float *out, int w) {
  int x = blockIdx.x * blockDim.x + threadIdx.x;
  if (x < 2 * w) out[blockIdx.y * 2 * w + x] = in[(blockIdx.y / 2) * w + x / 2];
}
