// Kernels that read memory and write it after a barrier: to split them there helps some of them.

__global__ void reverseTile(float* x, int n) {
  __shared__ float tile[256];
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  tile[threadIdx.x] = i < n ? x[i] : 0;
  __syncthreads();
  if (i < n) x[i] = tile[threadIdx.x ^ 1];
}

__global__ void sumBefore(int* x) {
  __shared__ int sums[256];
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  sums[threadIdx.x] = x[i];
  __syncthreads();
  for (int by = 1; by < blockDim.x; by *= 2) {
    int before = threadIdx.x >= by ? sums[threadIdx.x - by] : 0;
    __syncthreads();
    sums[threadIdx.x] += before;
    __syncthreads();
  }
  x[i] = sums[threadIdx.x];
}

// Two of the three barriers are enough: after the second one no location is written that was read there before.
__global__ void exchangeTwice(int* x) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  int first = x[i];
  __syncthreads();
  x[i ^ 1] = first + 1;
  __syncthreads();
  int second = x[i ^ 3];
  __syncthreads();
  x[i] = second;
}

// Blocks without elements return before the barrier.
__global__ void exchangeInSome(int* x, int blocks) {
  if (blockIdx.x >= blocks) return;
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  int own = x[i];
  __syncthreads();
  x[i ^ 1] = own;
}

// The code before the barrier must not execute twice.
__global__ void doubledBefore(float* x, float* y) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  x[i] *= 2;
  __syncthreads();
  y[i] = x[i ^ 1];
}

// Nor may the code after it.
__global__ void countedBehind(int* x, int* y) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  int own = x[i];
  __syncthreads();
  x[i ^ 1] = own;
  y[i] += own;
}

// Each iteration would have to be a launch.
__global__ void inRounds(int* x, int rounds) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  for (int round = 0; round < rounds; round++) {
    int other = x[i ^ 1];
    __syncthreads();
    x[i] = other;
    __syncthreads();
  }
}

// The last write is after the barrier on only one path.
__global__ void onOneWay(int* x, int isExchanged) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  int value = x[i];
  int to = i;
  if (isExchanged) {
    __syncthreads();
    to = i ^ 1;
  }
  x[to] = value + 1;
}

// The copies of an unrolled barrier are one line of the source.
__global__ void unrolled(int* x) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
#pragma unroll
  for (int bit = 1; bit < 8; bit *= 2) {
    int other = x[i ^ bit];
    __syncthreads();
    x[i] = other;
    __syncthreads();
  }
}
