// expect: lastBlockSum race=proved divergence=proved
// expect: lastBlockSum assumes initial
// expect: lastBlockSum silent
// expect: lastBlockSumNoFence race=race divergence=proved
// expect: lastBlockSumNoFence finding race/global error on partial lines 42,47
// expect: lastBlockSumNoBarrier race=race divergence=proved
// expect: lastBlockSumNoBarrier finding race/shared error on last lines 54,55
// expect: lastBlockSumTooEarly race=race divergence=proved
// expect: lastBlockSumTooEarly finding race/global error on partial lines 63,70
// expect: lastBlockSumTooFew race=possible divergence=proved
// expect: lastBlockSumTooFew finding memory/out-of-bounds error on partialsOf64 lines 78
//
// Each block stores a partial sum; the block that counts last adds them up.

__device__ float blockSum(const float* in) {
  float sum = in[blockIdx.x * blockDim.x + threadIdx.x];
  for (int d = 16; d > 0; d /= 2) sum += __shfl_down_sync(0xffffffffu, sum, d);
  return sum;
}

__global__ void lastBlockSum(float* out, float* partial, unsigned* count, const float* in) {
  __shared__ bool last;
  float sum = blockSum(in);
  if (threadIdx.x == 0) {
    partial[blockIdx.x] = sum;
    __threadfence();
    last = atomicAdd(count, 1) == gridDim.x - 1;
    __threadfence();
  }
  __syncthreads();
  if (!last) return;
  sum = 0;
  for (int i = threadIdx.x; i < gridDim.x; i += blockDim.x) sum += partial[i];
  for (int d = 16; d > 0; d /= 2) sum += __shfl_down_sync(0xffffffffu, sum, d);
  if (threadIdx.x == 0) out[0] = sum;
}

__global__ void lastBlockSumNoFence(float* out, float* partial, unsigned* count, const float* in) {
  __shared__ bool last;
  float sum = blockSum(in);
  if (threadIdx.x == 0) {
    partial[blockIdx.x] = sum;
    last = atomicAdd(count, 1) == gridDim.x - 1;
  }
  __syncthreads();
  if (!last) return;
  for (int i = threadIdx.x; i < gridDim.x; i += blockDim.x) out[i] = 2 * partial[i];
}

// Threads of the second warp read `last` before thread 0 has stored it.
__global__ void lastBlockSumNoBarrier(float* out, unsigned* count, const float* in) {
  __shared__ bool last;
  float sum = blockSum(in);
  if (threadIdx.x == 0) last = atomicAdd(count, 1) == gridDim.x - 1;
  if (last) out[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}

// One block is still missing when the last but one begins to add.
__global__ void lastBlockSumTooEarly(float* out, float* partial, unsigned* count, const float* in) {
  __shared__ bool last;
  float sum = blockSum(in);
  if (threadIdx.x == 0) {
    partial[blockIdx.x] = sum;
    __threadfence();
    last = atomicAdd(count, 1) == gridDim.x - 2;
    __threadfence();
  }
  __syncthreads();
  if (!last) return;
  for (int i = threadIdx.x; i < gridDim.x; i += blockDim.x) out[i] = 2 * partial[i];
}

__device__ float partialsOf64[64];

// 128 blocks, and an array for 64.
__global__ void lastBlockSumTooFew(const float* in) {
  float sum = blockSum(in);
  if (threadIdx.x == 0) partialsOf64[blockIdx.x] = sum;
}

void launchLastBlock(float* out, float* partial, unsigned* count, const float* in) {
  lastBlockSum<<<64, 32>>>(out, partial, count, in);
  lastBlockSumNoFence<<<64, 32>>>(out, partial, count, in);
  lastBlockSumNoBarrier<<<64, 64>>>(out, count, in);
  lastBlockSumTooEarly<<<64, 32>>>(out, partial, count, in);
  lastBlockSumTooFew<<<128, 32>>>(in);
}
