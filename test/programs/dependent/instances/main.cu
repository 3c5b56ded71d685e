// options: --arch sm_90
// expect: fill race=proved divergence=proved
// expect: fill finding ordering/pdl-wait error lines 21 when "One more finding"
// expect: scale<2> race=proved divergence=proved
// expect: scale<2> finding ordering/pdl-wait error lines 21
// expect: scale<3> race=proved divergence=proved
// expect: scale<3> finding ordering/pdl-wait error lines 21
//
// Instances of a template share a line: one finding.
#include "early-launch.cuh"

__global__ void fill(float* x) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  cudaTriggerProgrammaticLaunchCompletion();
  x[i] = i;
}

template <int factor>
__global__ void scale(float* y, const float* x) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  y[i] = factor * x[i];
}

int main() {
  float *x, *y;
  cudaMalloc(&x, 4096);
  cudaMalloc(&y, 4096);
  fill<<<4, 256>>>(x);
  launchEarly(scale<2>, 4, 256, y, (const float*)x);
  fill<<<4, 256>>>(x);
  launchEarly(scale<3>, 4, 256, y, (const float*)x);
  return cudaDeviceSynchronize();
}
