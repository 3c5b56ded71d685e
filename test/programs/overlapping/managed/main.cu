// expect: produce race=proved divergence=proved
// expect: produce finding ordering/host error lines 23
// expect: consume race=proved divergence=proved
// expect: consume silent
//
// The host reads what the kernel writes, before and after it has waited, and what it does not write.
#include <cuda_runtime.h>

__global__ void produce(float* x) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  x[i] = i;
}

__global__ void consume(float* y, const float* x) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  y[i] = x[i];
}

float early() {
  float* m;
  cudaMallocManaged(&m, 8192);
  produce<<<4, 256>>>(m);
  return m[7];
}

float late() {
  float* m;
  cudaMallocManaged(&m, 8192);
  produce<<<4, 256>>>(m);
  cudaDeviceSynchronize();
  return m[7];
}

float other() {
  float* m;
  cudaMallocManaged(&m, 8192);
  produce<<<4, 256>>>(m);
  return m[1024];
}
