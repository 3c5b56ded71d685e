// expect: produce race=proved divergence=proved
// expect: produce finding ordering/streams error lines 38
// expect: consume race=proved divergence=proved
// expect: consume silent
//
// Two streams that fill the halves of an array, and two that fill parts that overlap.
#include <cuda_runtime.h>

__global__ void produce(float* x) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  x[i] = i;
}

__global__ void consume(float* y, const float* x) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  y[i] = x[i];
}

void disjoint() {
  float *x, *y;
  cudaMalloc(&x, 8192);
  cudaMalloc(&y, 8192);
  cudaStream_t s, t;
  cudaStreamCreate(&s);
  cudaStreamCreate(&t);
  produce<<<4, 256, 0, s>>>(x);
  produce<<<4, 256, 0, t>>>(x + 1024);
}

void overlapping() {
  float *x, *y;
  cudaMalloc(&x, 8192);
  cudaMalloc(&y, 8192);
  cudaStream_t s, t;
  cudaStreamCreate(&s);
  cudaStreamCreate(&t);
  produce<<<4, 256, 0, s>>>(x);
  produce<<<4, 256, 0, t>>>(x + 1000);
}
