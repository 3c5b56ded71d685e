// Sums, products and extremes of rows and blocks.

// launch: block=64 grid=1..4 in[threads] out[blocks]
__global__ void sumBlocks(const int *in, int *out) {
  __shared__ int s[64];
  s[threadIdx.x] = in[blockIdx.x * blockDim.x + threadIdx.x];
  __syncthreads();
  for (int d = blockDim.x / 2; d > 0; d /= 2) {
    if (threadIdx.x < d) s[threadIdx.x] += s[threadIdx.x + d];
    __syncthreads();
  }
  if (threadIdx.x == 0) out[blockIdx.x] = s[0];
}

// launch: block=64 n~size grid=1..3 in[n] out[blocks]
__global__ void sumStridedBlocks(const float *in, float *out, int n) {
  __shared__ float s[64];
  float sum = 0;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) sum += in[i];
  s[threadIdx.x] = sum;
  __syncthreads();
  for (int d = 32; d > 0; d >>= 1) {
    if (threadIdx.x < d) s[threadIdx.x] += s[threadIdx.x + d];
    __syncthreads();
  }
  if (threadIdx.x == 0) out[blockIdx.x] = s[0];
}

// launch: block=64 n~size grid=1 x[n] y[n] result[1]
__global__ void dot(const float *x, const float *y, float *result, int n) {
  __shared__ float s[2];
  float sum = 0;
  for (int i = threadIdx.x; i < n; i += blockDim.x) sum += x[i] * y[i];
  for (int d = 16; d > 0; d >>= 1) sum += __shfl_down_sync(0xffffffffu, sum, d);
  if (threadIdx.x % 32 == 0) s[threadIdx.x / 32] = sum;
  __syncthreads();
  if (threadIdx.x == 0) *result = s[0] + s[1];
}

// launch: block=64 w~1..40 rows~1..8 grid=cover(rows,2) m[rows*w] sums[rows]
__global__ void rowSumsByWarps(const float *m, float *sums, int rows, int w) {
  int row = blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32;
  if (row >= rows) return;
  float sum = 0;
  for (int c = threadIdx.x % 32; c < w; c += 32) sum += m[row * w + c];
  for (int d = 16; d > 0; d >>= 1) sum += __shfl_xor_sync(0xffffffffu, sum, d);
  if (threadIdx.x % 32 == 0) sums[row] = sum;
}

// launch: block=32 w~1..70 h~1..20 grid=cover(w,32) m[w*h] most[w]
__global__ void columnMaxima(const int *m, int *most, int w, int h) {
  int c = blockIdx.x * blockDim.x + threadIdx.x;
  if (c >= w) return;
  int best = m[c];
  for (int r = 1; r < h; r++) best = max(best, m[r * w + c]);
  most[c] = best;
}

// launch: block=32 w~1..40 rows~1..4 grid=rows in[rows*w] out[rows*w]
__global__ void softmaxRows(const float *in, float *out, int w) {
  const float *row = in + blockIdx.x * w;
  float most = -1e30f, sum = 0;
  for (int c = threadIdx.x; c < w; c += 32) most = fmaxf(most, row[c]);
  for (int d = 16; d > 0; d >>= 1) most = fmaxf(most, __shfl_xor_sync(0xffffffffu, most, d));
  for (int c = threadIdx.x; c < w; c += 32) sum += expf(row[c] - most);
  for (int d = 16; d > 0; d >>= 1) sum += __shfl_xor_sync(0xffffffffu, sum, d);
  for (int c = threadIdx.x; c < w; c += 32) out[blockIdx.x * w + c] = expf(row[c] - most) / sum;
}

// launch: block=32 w~1..40 rows~1..4 grid=rows x[rows*w]
__global__ void softmaxInPlace(float *x, int w) {
  float *row = x + blockIdx.x * w;
  float most = -1e30f, sum = 0;
  for (int c = threadIdx.x; c < w; c += 32) most = fmaxf(most, row[c]);
  for (int d = 16; d > 0; d >>= 1) most = fmaxf(most, __shfl_xor_sync(0xffffffffu, most, d));
  for (int c = threadIdx.x; c < w; c += 32) sum += expf(row[c] - most);
  for (int d = 16; d > 0; d >>= 1) sum += __shfl_xor_sync(0xffffffffu, sum, d);
  for (int c = threadIdx.x; c < w; c += 32) row[c] = expf(row[c] - most) / sum;
}

// launch: block=32 w~2..40 rows~1..4 grid=rows in[rows*w] gain[w] bias[w] out[rows*w]
__global__ void layerNorm(const float *in, const float *gain, const float *bias, float *out, int w) {
  const float *row = in + blockIdx.x * w;
  float sum = 0, squares = 0;
  for (int c = threadIdx.x; c < w; c += 32) {
    sum += row[c];
    squares += row[c] * row[c];
  }
  for (int d = 16; d > 0; d >>= 1) {
    sum += __shfl_xor_sync(0xffffffffu, sum, d);
    squares += __shfl_xor_sync(0xffffffffu, squares, d);
  }
  float mean = sum / w, scale = rsqrtf(squares / w - mean * mean + 1e-5f);
  for (int c = threadIdx.x; c < w; c += 32) out[blockIdx.x * w + c] = (row[c] - mean) * scale * gain[c] + bias[c];
}

// launch: block=32 w~2..40 rows~1..4 grid=rows x[rows*w] residual[rows*w] gain[w]
__global__ void addAndNormaliseRms(float *x, const float *residual, const float *gain, int w) {
  float *row = x + blockIdx.x * w;
  float squares = 0;
  for (int c = threadIdx.x; c < w; c += 32) {
    float v = row[c] + residual[blockIdx.x * w + c];
    row[c] = v;
    squares += v * v;
  }
  for (int d = 16; d > 0; d >>= 1) squares += __shfl_xor_sync(0xffffffffu, squares, d);
  float scale = rsqrtf(squares / w + 1e-5f);
  for (int c = threadIdx.x; c < w; c += 32) row[c] *= scale * gain[c];
}

// launch: block=64 grid=1..3 in[threads] out[threads]
__global__ void scanBlocks(const int *in, int *out) {
  __shared__ int s[64];
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  s[threadIdx.x] = in[i];
  __syncthreads();
  for (int d = 1; d < blockDim.x; d *= 2) {
    int left = threadIdx.x >= d ? s[threadIdx.x - d] : 0;
    __syncthreads();
    s[threadIdx.x] += left;
    __syncthreads();
  }
  out[i] = s[threadIdx.x];
}

// launch: block=64 grid=1..3 data[threads]
__global__ void scanInPlace(int *data) {
  __shared__ int s[64];
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  s[threadIdx.x] = data[i];
  __syncthreads();
  for (int d = 1; d < 64; d *= 2) {
    int left = threadIdx.x >= d ? s[threadIdx.x - d] : 0;
    __syncthreads();
    s[threadIdx.x] += left;
    __syncthreads();
  }
  data[i] = s[threadIdx.x];
}

// launch: block=64 grid=1..3 data[threads] sums[blocks]
__global__ void addScannedSums(int *data, const int *sums) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (blockIdx.x > 0) data[i] += sums[blockIdx.x - 1];
}

// launch: block=64 n~size grid=cover(n,64) keys[n] hist[16]!zero
__global__ void histogram(const unsigned char *keys, int *hist, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) atomicAdd(&hist[keys[i] & 15], 1);
}

// launch: block=64 grid=1..3 keys[threads] hist[16*blocks]
__global__ void histogramOfBlocks(const unsigned char *keys, int *hist) {
  __shared__ int s[16];
  if (threadIdx.x < 16) s[threadIdx.x] = 0;
  __syncthreads();
  atomicAdd(&s[keys[blockIdx.x * blockDim.x + threadIdx.x] & 15], 1);
  __syncthreads();
  if (threadIdx.x < 16) hist[blockIdx.x * 16 + threadIdx.x] = s[threadIdx.x];
}
