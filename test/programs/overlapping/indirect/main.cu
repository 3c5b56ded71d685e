// expect: scatter race=possible divergence=proved
// expect: scatter finding ordering/streams warning lines 26
// expect: clear race=proved divergence=proved
// expect: clear silent
//
// Which bytes a kernel writes depends on memory: a warning if both launches are given one array.
#include <cuda_runtime.h>

__global__ void scatter(float* x, const int* to) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  x[to[i]] = i;
}

__global__ void clear(float* x) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  x[i] = 0;
}

void scattered(const int* to) {
  float* x;
  cudaMalloc(&x, 4096);
  cudaStream_t s, t;
  cudaStreamCreate(&s);
  cudaStreamCreate(&t);
  clear<<<4, 256, 0, s>>>(x);
  scatter<<<4, 256, 0, t>>>(x, to);
}
