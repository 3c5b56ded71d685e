// Kernels that read an array and write it afterwards: writing to another array helps some of them.

__global__ void twice(float* x, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) x[i] *= 2;
}

__global__ void addTo(float* y, const float* x, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] += x[i];
}

__global__ void move(float* at, float* speed, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float v = speed[i] * 0.5f;
  speed[i] = v;
  at[i] += v;
}

// The written elements are read again, after a barrier.
__global__ void readsBack(float* x, float* y) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  x[i] *= 2;
  __syncthreads();
  y[i] = x[i ^ 1];
}

// The next iteration may read the writes of this one.
__global__ void inRounds(float* x, int n) {
  for (int i = threadIdx.x; i < n; i += blockDim.x) x[i] *= 2;
}

__global__ void counts(int* bins, const int* in) { atomicAdd(&bins[in[threadIdx.x] & 255], 1); }

// The second array counts launches, and another output for the first does not change that.
__global__ void numbered(float* x, int* last) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  x[i] *= 2;
  if (i == 0) atomicAdd(last, 1);
}

// Unrolled: each pair of a read and a write has launches without it; without iterations all pairs are absent.
__global__ void addRepeatedly(int* x, const int* by, int rounds) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  for (int k = 0; k < rounds; k++) x[i] += *by;
}
