// Shared memory: tiles, padding, strides of banks.

// changes: tiles in shared memory
// better: sectors
#ifdef AFTER
__global__ void multiply(float *c, const float *a, const float *b, int n) {
  __shared__ float x[16][16], y[16][16];
  int column = blockIdx.x * 16 + threadIdx.x, row = blockIdx.y * 16 + threadIdx.y;
  float sum = 0.0f;
  for (int k = 0; k < n; k += 16) {
    x[threadIdx.y][threadIdx.x] = a[row * n + k + threadIdx.x];
    y[threadIdx.y][threadIdx.x] = b[(k + threadIdx.y) * n + column];
    __syncthreads();
    for (int j = 0; j < 16; j++)
      sum += x[threadIdx.y][j] * y[j][threadIdx.x];
    __syncthreads();
  }
  c[row * n + column] = sum;
}
#else
__global__ void multiply(float *c, const float *a, const float *b, int n) {
  int column = blockIdx.x * 16 + threadIdx.x, row = blockIdx.y * 16 + threadIdx.y;
  float sum = 0.0f;
  for (int k = 0; k < n; k++)
    sum += a[row * n + k] * b[k * n + column];
  c[row * n + column] = sum;
}
#endif
void callMultiply(float *c, const float *a, const float *b) { multiply<<<dim3(4, 4), dim3(16, 16)>>>(c, a, b, 64); }

// changes: the tile loses its padding
// worse: conflicts at `out[y * 256 + x] = tile[threadIdx.x][threadIdx.y];`
__global__ void transpose(float *out, const float *in) {
#ifdef AFTER
  __shared__ float tile[32][32];
#else
  __shared__ float tile[32][33];
#endif
  int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 32 + threadIdx.y;
  tile[threadIdx.y][threadIdx.x] = in[y * 256 + x];
  __syncthreads();
  x = blockIdx.y * 32 + threadIdx.x, y = blockIdx.x * 32 + threadIdx.y;
  out[y * 256 + x] = tile[threadIdx.x][threadIdx.y];
}
void callTranspose(float *out, const float *in) { transpose<<<dim3(8, 8), dim3(32, 32)>>>(out, in); }

// changes: the tile is padded
// better: conflicts
__global__ void flip(float *out, const float *in) {
#ifdef AFTER
  __shared__ float tile[32][33];
#else
  __shared__ float tile[32][32];
#endif
  int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 32 + threadIdx.y;
  tile[threadIdx.y][threadIdx.x] = in[y * 128 + x];
  __syncthreads();
  x = blockIdx.y * 32 + threadIdx.x, y = blockIdx.x * 32 + threadIdx.y;
  out[y * 128 + x] = tile[threadIdx.x][threadIdx.y];
}
void callFlip(float *out, const float *in) { flip<<<dim3(4, 4), dim3(32, 32)>>>(out, in); }

// changes: words of shared memory every second bank
// worse: conflicts at `part[2 * t] = in[blockIdx.x * 128 + t];`
__global__ void spread(float *out, const float *in) {
  __shared__ float part[256];
  int t = threadIdx.x;
#ifdef AFTER
  part[2 * t] = in[blockIdx.x * 128 + t];
  __syncthreads();
  out[blockIdx.x * 128 + t] = part[254 - 2 * t];
#else
  part[t] = in[blockIdx.x * 128 + t];
  __syncthreads();
  out[blockIdx.x * 128 + t] = part[127 - t];
#endif
}
void callSpread(float *out, const float *in) { spread<<<64, 128>>>(out, in); }

// changes: the transposition writes columns itself
// worse: sectors at `out[x * 256 + y] = in[y * 256 + x];`
__global__ void turn(float *out, const float *in) {
  int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 32 + threadIdx.y;
#ifdef AFTER
  out[x * 256 + y] = in[y * 256 + x];
#else
  __shared__ float tile[32][33];
  tile[threadIdx.y][threadIdx.x] = in[y * 256 + x];
  __syncthreads();
  x = blockIdx.y * 32 + threadIdx.x, y = blockIdx.x * 32 + threadIdx.y;
  out[y * 256 + x] = tile[threadIdx.x][threadIdx.y];
#endif
}
void callTurn(float *out, const float *in) { turn<<<dim3(8, 8), dim3(32, 32)>>>(out, in); }

// changes: a reduction with strides that grow
// worse: conflicts
__global__ void total(float *out, const float *in) {
  __shared__ float part[256];
  int t = threadIdx.x;
  part[t] = in[blockIdx.x * 256 + t];
  __syncthreads();
#ifdef AFTER
  for (int s = 1; s < 256; s *= 2) {
    int i = 2 * s * t;
    if (i < 256)
      part[i] += part[i + s];
    __syncthreads();
  }
#else
  for (int s = 128; s > 0; s /= 2) {
    if (t < s)
      part[t] += part[t + s];
    __syncthreads();
  }
#endif
  if (t == 0)
    out[blockIdx.x] = part[0];
}
void callTotal(float *out, const float *in) { total<<<32, 256>>>(out, in); }

// changes: neighbours come from shared memory
// better: sectors
__global__ void stencil(float *out, const float *in) {
  int i = blockIdx.x * 128 + threadIdx.x;
#ifdef AFTER
  __shared__ float part[144];
  part[threadIdx.x] = in[i];
  if (threadIdx.x < 16)
    part[128 + threadIdx.x] = in[i + 128];
  __syncthreads();
  float sum = 0.0f;
  for (int k = 0; k < 16; k++)
    sum += part[threadIdx.x + k];
#else
  float sum = 0.0f;
  for (int k = 0; k < 16; k++)
    sum += in[i + k];
#endif
  out[i] = sum;
}
void callStencil(float *out, const float *in) { stencil<<<64, 128>>>(out, in); }
