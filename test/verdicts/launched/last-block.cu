// expect: lastBlockSum race=proved divergence=proved
// expect: lastBlockSum assumes initial
// expect: lastBlockSum silent
// expect: lastBlockSumNoFence race=race divergence=proved
// expect: lastBlockSumNoFence finding race/global error on partial lines 54,59
// expect: lastBlockSumNoFence advice "Add `__threadfence()` before and after the update of `count` on line 55" as in lastBlockSum
// expect: lastBlockSumNoBarrier race=race divergence=proved
// expect: lastBlockSumNoBarrier finding race/shared error on last lines 66,67
// expect: lastBlockSumNoBarrier advice "Add `__syncthreads()` between the two accesses" as in lastBlockSum
// expect: lastBlockSumTooEarly race=race divergence=proved
// expect: lastBlockSumTooEarly finding race/global error on partial lines 75,82
// expect: lastBlockSumTooEarly advice "Compare the result of the atomic operation on line 77, which is the value before it, with `gridDim.x - 1`" as in lastBlockSum
// expect: lastBlockSumTooFew race=possible divergence=proved
// expect: lastBlockSumTooFew finding memory/out-of-bounds error on partialsOf64 lines 90
// expect: lastBlockSumTooFew advice "Check the index before the access, launch fewer blocks, or declare a larger array"
// expect: lastBlockCounts race=proved divergence=proved
// expect: lastBlockCounts silent
// expect: lastBlockCountsTooEarly race=race divergence=proved
// expect: lastBlockCountsTooEarly finding race/global error on counts lines 110,117
// expect: lastBlockCountsTooEarly advice "Add `__syncthreads()`, which all threads of the block execute, before the update of `done` on line 113" as in lastBlockCounts
// expect: lastBlockSomeCountsTooEarly race=race divergence=proved
// expect: lastBlockSomeCountsTooEarly finding race/global warning on counts lines 123,130
// expect: lastBlockSomeCountsTooEarly advice "Add `__syncthreads()`, which all threads of the block execute, before the update of `done` on line 126" as in lastBlockCounts
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

// All threads count values; the last block reads all counts.
__global__ void lastBlockCounts(const int* values, int* counts, unsigned* done, int* out, int n) {
  __shared__ bool last;
  for (int i = blockIdx.x * 128 + threadIdx.x; i < n; i += gridDim.x * 128) atomicAdd(&counts[values[i] & 127], 1);
  __threadfence();
  __syncthreads();
  if (threadIdx.x == 0) {
    last = atomicAdd(done, 1) == gridDim.x - 1;
    __threadfence();
  }
  __syncthreads();
  if (last) out[threadIdx.x] = counts[threadIdx.x];
}

// Thread 0 counts its block before the other threads have counted. For any values the last block reads their count.
__global__ void lastBlockCountsTooEarly(const int* values, int* counts, unsigned* done, int* out, int n) {
  __shared__ bool last;
  for (int i = blockIdx.x * 128 + threadIdx.x; i < n; i += gridDim.x * 128) atomicAdd(&counts[values[i] & 127], 1);
  __threadfence();
  if (threadIdx.x == 0) {
    last = atomicAdd(done, 1) == gridDim.x - 1;
    __threadfence();
  }
  __syncthreads();
  if (last) out[threadIdx.x] = counts[threadIdx.x];
}

// As before, but counts of values above 127 are not read.
__global__ void lastBlockSomeCountsTooEarly(const int* values, int* counts, unsigned* done, int* out, int n) {
  __shared__ bool last;
  for (int i = blockIdx.x * 128 + threadIdx.x; i < n; i += gridDim.x * 128) atomicAdd(&counts[values[i] & 255], 1);
  __threadfence();
  if (threadIdx.x == 0) {
    last = atomicAdd(done, 1) == gridDim.x - 1;
    __threadfence();
  }
  __syncthreads();
  if (last) out[threadIdx.x] = counts[threadIdx.x];
}

void launchCounts(const int* values, int* counts, unsigned* done, int* out, int n) {
  lastBlockCounts<<<64, 128>>>(values, counts, done, out, n);
  lastBlockCountsTooEarly<<<64, 128>>>(values, counts, done, out, n);
  lastBlockSomeCountsTooEarly<<<64, 128>>>(values, counts, done, out, n);
}

void launchLastBlock(float* out, float* partial, unsigned* count, const float* in) {
  lastBlockSum<<<64, 32>>>(out, partial, count, in);
  lastBlockSumNoFence<<<64, 32>>>(out, partial, count, in);
  lastBlockSumNoBarrier<<<64, 64>>>(out, count, in);
  lastBlockSumTooEarly<<<64, 32>>>(out, partial, count, in);
  lastBlockSumTooFew<<<128, 32>>>(in);
}
