// expect: produce race=proved divergence=proved
// expect: produce finding ordering/streams error lines 29
// expect: consume race=proved divergence=proved
// expect: consume silent
//
// A copy in another stream, of the bytes that the kernel writes, and of others.
#include <cuda_runtime.h>

__global__ void produce(float* x) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  x[i] = i;
}

__global__ void consume(float* y, const float* x) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  y[i] = x[i];
}

void copied() {
  float *x, *y;
  cudaMalloc(&x, 8192);
  cudaMalloc(&y, 8192);
  cudaStream_t s, t;
  cudaStreamCreate(&s);
  cudaStreamCreate(&t);
  float* host;
  cudaMallocHost(&host, 4096);
  produce<<<4, 256, 0, s>>>(x);
  cudaMemcpyAsync(host, x + 1023, 4, cudaMemcpyDeviceToHost, t);
}

void others() {
  float *x, *y;
  cudaMalloc(&x, 8192);
  cudaMalloc(&y, 8192);
  cudaStream_t s, t;
  cudaStreamCreate(&s);
  cudaStreamCreate(&t);
  float* host;
  cudaMallocHost(&host, 4096);
  produce<<<4, 256, 0, s>>>(x);
  cudaMemcpyAsync(host, x + 1024, 4096, cudaMemcpyDeviceToHost, t);
}
