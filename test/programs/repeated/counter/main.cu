// expect: sumLast race=proved divergence=proved
// expect: sumLast finding ordering/counter warning lines 48
// expect: sumLast finding ordering/counter warning lines 65
// expect: sumLast finding ordering/counter warning lines 82
// expect: sumLastReset race=proved divergence=proved
// expect: sumLastReset silent
// expect: sumIfSeveral race=proved divergence=proved
// expect: sumIfSeveral silent
// expect: handOver race=proved divergence=proved
// expect: handOver silent
// expect: clearCounter race=proved divergence=proved
// expect: clearCounter silent
//
// A counter that has to be 0 when the kernel starts, and that the launch before leaves at the number of blocks.
#include <cuda_runtime.h>
__global__ void sumLast(float* out, float* part, unsigned* count, const float* in) {
  __shared__ bool last;
  if (threadIdx.x == 0) {
    part[blockIdx.x] = in[blockIdx.x];
    __threadfence();
    last = atomicAdd(count, 1) == gridDim.x - 1;
    __threadfence();
  }
  __syncthreads();
  if (!last) return;
  for (int i = threadIdx.x; i < gridDim.x; i += blockDim.x) out[i] = 2 * part[i];
}

__global__ void sumLastReset(float* out, float* part, unsigned* count, const float* in) {
  __shared__ bool last;
  if (threadIdx.x == 0) {
    part[blockIdx.x] = in[blockIdx.x];
    __threadfence();
    last = atomicAdd(count, 1) == gridDim.x - 1;
    __threadfence();
  }
  __syncthreads();
  if (!last) return;
  if (threadIdx.x == 0) *count = 0;
  for (int i = threadIdx.x; i < gridDim.x; i += blockDim.x) out[i] = 2 * part[i];
}

void twice(float* out, float* part, const float* in) {
  unsigned* count;
  cudaMalloc(&count, 4);
  cudaMemset(count, 0, 4);
  sumLast<<<64, 64>>>(out, part, count, in);
  sumLast<<<64, 64>>>(out, part, count, in);
}

void cleared(float* out, float* part, const float* in) {
  unsigned* count;
  cudaMalloc(&count, 4);
  cudaMemset(count, 0, 4);
  sumLast<<<64, 64>>>(out, part, count, in);
  cudaMemset(count, 0, 4);
  sumLast<<<64, 64>>>(out, part, count, in);
}

void inLoop(float* out, float* part, const float* in, int n) {
  unsigned* count;
  cudaMalloc(&count, 4);
  cudaMemset(count, 0, 4);
  for (int i = 0; i < n; i++)
    sumLast<<<64, 64>>>(out, part, count, in);
}

void inLoopCleared(float* out, float* part, const float* in, int n) {
  unsigned* count;
  cudaMalloc(&count, 4);
  for (int i = 0; i < n; i++) {
    cudaMemset(count, 0, 4);
    sumLast<<<64, 64>>>(out, part, count, in);
  }
}

void inLoopFew(float* out, float* part, const float* in) {
  unsigned* count;
  cudaMalloc(&count, 4);
  cudaMemset(count, 0, 4);
  for (int i = 0; i < 4; i++)
    sumLast<<<64, 64>>>(out, part, count, in);
}

void resets(float* out, float* part, const float* in, unsigned* count) {
  sumLastReset<<<64, 64>>>(out, part, count, in);
  sumLastReset<<<64, 64>>>(out, part, count, in);
}

void given(float* out, float* part, const float* in, unsigned* count) {
  sumLast<<<64, 64>>>(out, part, count, in);
  sumLast<<<64, 64>>>(out, part, count, in);
}

void two(float* out, float* part, const float* in, unsigned* count, unsigned* other) {
  sumLast<<<64, 64>>>(out, part, count, in);
  sumLast<<<64, 64>>>(out, part, other, in);
}

void clear(unsigned* count);

void unknown(float* out, float* part, const float* in, unsigned* count) {
  sumLast<<<64, 64>>>(out, part, count, in);
  clear(count);
  sumLast<<<64, 64>>>(out, part, count, in);
}

__global__ void clearCounter(unsigned* count) { *count = 0; }

void clearedByKernel(float* out, float* part, const float* in, unsigned* count) {
  sumLast<<<64, 64>>>(out, part, count, in);
  clearCounter<<<1, 1>>>(count);
  sumLast<<<64, 64>>>(out, part, count, in);
}

void copied(float* out, float* part, const float* in, unsigned* count) {
  unsigned zero = 0;
  sumLast<<<64, 64>>>(out, part, count, in);
  cudaMemcpy(count, &zero, 4, cudaMemcpyHostToDevice);
  sumLast<<<64, 64>>>(out, part, count, in);
}

void ofMemory(float* out, float* part, const float* in, unsigned* count) {
  sumLast<<<64, 64>>>(out, part, count, in);
  cudaMemset(part, 0, 256);
  sumLast<<<64, 64>>>(out, part, count, in);
}

void either(float* out, float* part, const float* in, unsigned* count, bool b) {
  if (b) sumLast<<<64, 64>>>(out, part, count, in);
  else sumLast<<<64, 64>>>(out, part, count, in);
}

void eachItsOwn(float* out, float* part, const float* in) {
  unsigned* count;
  cudaMalloc(&count, 64);
  cudaMemset(count, 0, 64);
  sumLast<<<64, 64>>>(out, part, count, in);
  for (int i = 1; i < 16; i++) sumLast<<<64, 64>>>(out, part, count + i, in);
}

void clearedButFirst(float* out, float* part, const float* in, int n) {
  unsigned* count;
  cudaMalloc(&count, 4);
  cudaMemset(count, 0, 4);
  bool isUsed = false;
  for (int i = 0; i < n; i++) {
    if (isUsed) cudaMemset(count, 0, 4);
    sumLast<<<64, 64>>>(out, part, count, in);
    isUsed = true;
  }
}

__global__ void sumIfSeveral(float* out, float* part, unsigned* count, const float* in) {
  __shared__ bool last;
  if (threadIdx.x == 0) part[blockIdx.x] = in[blockIdx.x];
  if (gridDim.x > 1) {
    if (threadIdx.x == 0) {
      __threadfence();
      last = atomicAdd(count, 1) == gridDim.x - 1;
      __threadfence();
    }
    __syncthreads();
    if (!last) return;
  } else __syncthreads();
  for (int i = threadIdx.x; i < gridDim.x; i += blockDim.x) out[i] = 2 * part[i];
}

void oneBlockThenSeveral(float* out, float* part, const float* in) {
  unsigned* count;
  cudaMalloc(&count, 4);
  cudaMemset(count, 0, 4);
  sumIfSeveral<<<1, 64>>>(out, part, count, in);
  sumIfSeveral<<<64, 64>>>(out, part, count, in);
}

__global__ void handOver(float* out, float* data, unsigned* flag, const float* in) {
  if (threadIdx.x != 0) return;
  if (blockIdx.x == 0) {
    data[0] = in[0];
    __threadfence();
    atomicExch(flag, 1);
  } else if (blockIdx.x == 1) {
    while (atomicAdd(flag, 0) == 0) {}
    __threadfence();
    out[0] = data[0];
    atomicExch(flag, 0);
  }
}

void handTwice(float* out, float* data, const float* in) {
  unsigned* flag;
  cudaMalloc(&flag, 4);
  cudaMemset(flag, 0, 4);
  handOver<<<2, 32>>>(out, data, flag, in);
  handOver<<<2, 32>>>(out, data, flag, in);
}
