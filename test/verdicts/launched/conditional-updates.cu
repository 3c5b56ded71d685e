// expect: halves race=proved divergence=proved
// expect: halves silent
// expect: halvesReadsNext race=race divergence=proved
// expect: halvesReadsNext finding race/shared error on s lines 46
// expect: halvesUnbounded race=proved divergence=proved
// expect: halvesUnbounded silent
// expect: twoLimits race=proved divergence=proved
// expect: twoLimits silent
// expect: everyRun race=proved divergence=proved
// expect: everyRun silent
// expect: otherRates race=race divergence=proved
// expect: otherRates finding race/shared error on s lines 105
// expect: mayPause race=race divergence=proved
// expect: mayPause finding race/shared error on s lines 119
//
// Variables that a thread updates only while it takes part.
#include <cuda_runtime.h>

__global__ void halves(float* out, unsigned levels) {
  __shared__ float s[512];
  unsigned t = threadIdx.x, n = 128, at = t * 2, off = 1;
  s[t] = t;
  s[t + 256] = t;
  __syncthreads();
  for (unsigned i = 1; i < levels; ++i) {
    if (t < n) {
      s[at] = s[at] + s[at + off];
      n >>= 1;
      off <<= 1;
      at <<= 1;
    }
    __syncthreads();
  }
  out[blockIdx.x * 256 + t] = s[t];
}

// It adds the element of the next thread.
__global__ void halvesReadsNext(float* out, unsigned levels) {
  __shared__ float s[514];
  unsigned t = threadIdx.x, n = 128, at = t * 2, off = 2;
  s[t] = t;
  s[t + 256] = t;
  __syncthreads();
  for (unsigned i = 1; i < levels; ++i) {
    if (t < n) {
      s[at] = s[at] + s[at + off];
      n >>= 1;
      off <<= 1;
      at <<= 1;
    }
    __syncthreads();
  }
  out[blockIdx.x * 256 + t] = s[t];
}

// For any number of iterations, no thread participates after eight.
__global__ void halvesUnbounded(float* out, const unsigned* levels) {
  __shared__ float s[512];
  unsigned t = threadIdx.x, n = 128, at = t * 2, off = 1, most = levels[blockIdx.x];
  s[t] = t;
  s[t + 256] = t;
  __syncthreads();
  for (unsigned i = 1; i < most; ++i) {
    if (t < n) {
      s[at] = s[at] + s[at + off];
      n >>= 1;
      off <<= 1;
      at <<= 1;
    }
    __syncthreads();
  }
  out[blockIdx.x * 256 + t] = s[t];
}

__global__ void twoLimits(int* out, int rounds) {
  __shared__ int s[1024];
  int p = threadIdx.x, q = 0;
  for (int i = 0; i < rounds; i++) {
    if (p < 1024 && q < 3) {
      s[p] = q;
      p += 256;
      q += 1;
    }
  }
  out[blockIdx.x * 256 + threadIdx.x] = s[threadIdx.x];
}

__global__ void everyRun(int* out, int runs) {
  __shared__ int s[1024];
  for (int run = 0; run < runs; run++)
    for (int i = 0, p = threadIdx.x; i < 8; i++)
      if (p < 1024) {
        s[p] = run;
        p += 256;
      }
  out[blockIdx.x * 256 + threadIdx.x] = s[threadIdx.x];
}

// Threads from 64 on go on half as often, so that the others catch up with them.
__global__ void otherRates(int* out, int rounds) {
  __shared__ int s[4096];
  int p = threadIdx.x;
  for (int i = 0; i < rounds; i++) {
    if (p < 4096 && i % (threadIdx.x < 64 ? 2 : 4) == 0) {
      s[p] = threadIdx.x;
      p += 64;
    }
    __syncthreads();
  }
  out[blockIdx.x * 128 + threadIdx.x] = s[threadIdx.x];
}

// A participating thread may skip an iteration.
__global__ void mayPause(int* out, int rounds) {
  __shared__ int s[4096];
  int p = threadIdx.x;
  for (int i = 0; i < rounds; i++) {
    if (p < 4096) {
      s[p] = threadIdx.x;
      if (i % (threadIdx.x < 64 ? 2 : 4) == 0) p += 64;
    }
    __syncthreads();
  }
  out[blockIdx.x * 128 + threadIdx.x] = s[threadIdx.x];
}

void launch(float* f, int* out, const unsigned* levels) {
  halves<<<4, 256>>>(f, 8);
  halvesReadsNext<<<4, 256>>>(f, 8);
  halvesUnbounded<<<4, 256>>>(f, levels);
  twoLimits<<<4, 256>>>(out, 40);
  everyRun<<<4, 256>>>(out, 3);
  otherRates<<<4, 128>>>(out, 20);
  mayPause<<<4, 128>>>(out, 20);
}
