// A kernel that spends something of every kind, and launches that fail. See limits.test.ts.

// selvage: block=256 grid=64
__global__ void sums(float *out, const float *in, int n) {
  __shared__ float part[1024];
  int t = threadIdx.x;
  float sum = 0.0f;
  for (int i = 0; i < n; i++)
    sum += in[i * 8192 + 32 * t];
  part[2 * t] = sum;
  __syncthreads();
  float v = part[2 * (255 - t)];
  if (t % 2 == 0)
    for (int i = 0; i < n; i++)
      v = __sinf(v);
  out[blockIdx.x * 256 + t] = v;
}

// selvage: block=128 grid=4
__global__ void gathered(float *out, const int *list) {
  int t = blockIdx.x * 128 + threadIdx.x;
  float sum = 0.0f;
  for (int i = t; i >= 0; i = list[i])
    sum += 1.0f;
  out[t] = sum;
}

// selvage: block=256 grid=4
__global__ void __launch_bounds__(256, 4) crowded(float *out) {
  __shared__ float part[12 * 1024];
  part[threadIdx.x] = 1.0f;
  __syncthreads();
  out[threadIdx.x] = part[threadIdx.x + 1];
}
