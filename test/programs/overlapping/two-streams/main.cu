// expect: produce race=proved divergence=proved
// expect: produce silent
// expect: consume race=proved divergence=proved
// expect: consume finding ordering/streams error lines 27
//
// Two streams without an event, and with one.
#include <cuda_runtime.h>

__global__ void produce(float* x) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  x[i] = i;
}

__global__ void consume(float* y, const float* x) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  y[i] = x[i];
}

void unordered() {
  float *x, *y;
  cudaMalloc(&x, 8192);
  cudaMalloc(&y, 8192);
  cudaStream_t s, t;
  cudaStreamCreate(&s);
  cudaStreamCreate(&t);
  produce<<<4, 256, 0, s>>>(x);
  consume<<<4, 256, 0, t>>>(y, x);
}

void ordered() {
  float *x, *y;
  cudaMalloc(&x, 8192);
  cudaMalloc(&y, 8192);
  cudaStream_t s, t;
  cudaStreamCreate(&s);
  cudaStreamCreate(&t);
  cudaEvent_t produced;
  cudaEventCreate(&produced);
  produce<<<4, 256, 0, s>>>(x);
  cudaEventRecord(produced, s);
  cudaStreamWaitEvent(t, produced, 0);
  consume<<<4, 256, 0, t>>>(y, x);
}
