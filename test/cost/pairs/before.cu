// Kernels that differ from those of after.cu in one thing each. See compare.test.ts for the costs of the changes.

// selvage: block=256 grid=64 arg(n=16384)
__global__ void gather(float *out, const float *in, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    out[i] = 2.0f * in[i];
}

// selvage: block=32,32 grid=8,8 arg(n=256) assume(n % 32 == 0)
__global__ void transpose(float *out, const float *in, int n) {
  __shared__ float tile[32][33];
  int x = blockIdx.x * 32 + threadIdx.x;
  int y = blockIdx.y * 32 + threadIdx.y;
  tile[threadIdx.y][threadIdx.x] = in[y * n + x];
  __syncthreads();
  x = blockIdx.y * 32 + threadIdx.x;
  y = blockIdx.x * 32 + threadIdx.y;
  out[y * n + x] = tile[threadIdx.x][threadIdx.y];
}

// selvage: block=256 grid=64 arg(n=100)
__global__ void choose(float *out, const float *in, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  float v = in[i];
  if (blockIdx.x % 2 == 0)
    for (int k = 0; k < n; k++)
      v = __expf(v);
  out[i] = v;
}

// selvage: block=128 grid=32 arg(n=1024)
__global__ void accumulate(volatile float *weight, float *out, int n) {
  int t = blockIdx.x * blockDim.x + threadIdx.x;
  float w = weight[0];
  float sum = 0.0f;
  for (int i = 0; i < n; i++)
    sum = sum * w + 1.0f;
  out[t] = sum;
}

// selvage: block=1024 grid=16 arg(n=64)
__global__ void __launch_bounds__(1024, 2) recurrences(float *out, const float *in, int n) {
  const int unrolled = 4;
  int t = blockIdx.x * 1024 + threadIdx.x;
  for (int first = 0; first < 40; first += unrolled) {
    float v[unrolled];
    for (int k = 0; k < unrolled; k++)
      v[k] = in[(first + k) * 16384 + t];
    for (int i = 0; i < n; i++)
      for (int k = 0; k < unrolled; k++)
        v[k] = v[k] * v[(k + 1) % unrolled] + 1.0f;
    for (int k = 0; k < unrolled; k++)
      out[(first + k) * 16384 + t] = v[k];
  }
}

// selvage: block=256 grid=64
__global__ void reverse(float *out, const float *in) {
  __shared__ float part[6 * 1024];
  int t = threadIdx.x;
  part[t] = in[blockIdx.x * 256 + t];
  __syncthreads();
  out[blockIdx.x * 256 + t] = part[255 - t];
}

// selvage: block=64 grid=16 arg(n=512)
__global__ void chain(float *out, float seed, int n) {
  float v = seed;
  for (int i = 0; i < n; i++)
    v = __sinf(v);
  out[blockIdx.x * 64 + threadIdx.x] = v;
}

// selvage: block=256 grid=64 arg(n=16384)
__global__ void untouched(float *out, const float *in, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    out[i] = in[i] + in[i + 1];
}

// selvage: block=256 grid=64 arg(n=16384)
__global__ void renamed(float *out, const float *in, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    out[i] = in[i] - in[i + 1];
}

// selvage: block=256 grid=64 arg(n=16384)
__global__ void better(float *out, const float *in, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    out[i] = in[8 * i];
}
