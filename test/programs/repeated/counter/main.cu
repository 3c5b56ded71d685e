// expect: sumLast race=proved divergence=proved
// expect: sumLast finding ordering/counter warning lines 46
// expect: sumLast finding ordering/counter warning lines 63
// expect: sumLast finding ordering/counter warning lines 80
// expect: sumLast finding ordering/counter warning lines 90
// expect: sumLast finding ordering/counter warning lines 124
// expect: sumLastReset race=proved divergence=proved
// expect: sumLastReset silent
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
