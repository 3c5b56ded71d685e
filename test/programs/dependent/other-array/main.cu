// options: --arch sm_90
// expect: fill race=proved divergence=proved
// expect: fill finding ordering/pdl-wait error lines 27
// expect: addAfter race=proved divergence=proved
// expect: addAfter silent
// expect: addBefore race=proved divergence=proved
// expect: addBefore finding ordering/pdl-wait error lines 27
//
// The kernel loads an array before it waits that the kernel before does not write, or one that it does.
#include "early-launch.cuh"

__global__ void fill(float* x) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  cudaTriggerProgrammaticLaunchCompletion();
  x[i] = i;
}

__global__ void addAfter(float* y, const float* x, const float* weights) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  float weight = weights[i];
  cudaGridDependencySynchronize();
  y[i] = weight * x[i];
}

__global__ void addBefore(float* y, const float* x, const float* weights) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  float value = x[i];
  cudaGridDependencySynchronize();
  y[i] = weights[i] * value;
}

int main() {
  float *x, *y, *weights;
  cudaMalloc(&x, 4096);
  cudaMalloc(&y, 4096);
  cudaMalloc(&weights, 4096);
  cudaMemset(weights, 0, 4096);
  fill<<<4, 256>>>(x);
  launchEarly(addAfter, 4, 256, y, (const float*)x, (const float*)weights);
  fill<<<4, 256>>>(x);
  launchEarly(addBefore, 4, 256, y, (const float*)x, (const float*)weights);
  return cudaDeviceSynchronize();
}
