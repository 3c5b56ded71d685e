// options: --arch sm_90
// expect: fill race=proved divergence=proved
// expect: fill finding ordering/pdl-wait error lines 21 when "One more finding"
// expect: scale<2> race=proved divergence=proved
// expect: scale<2> finding ordering/pdl-wait error lines 21
// expect: scale<3> race=proved divergence=proved
// expect: scale<3> finding ordering/pdl-wait error lines 21
//
// Instances of a template share a line: one finding.
#include <cuda_runtime.h>

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

/** Launches a kernel that may start before the kernel before it in the stream has ended. */
template <typename... Parameters, typename... Arguments>
void launchEarly(void (*kernel)(Parameters...), int blocks, int threads, Arguments... arguments) {
  cudaLaunchConfig_t config = {};
  config.gridDim = blocks;
  config.blockDim = threads;
  cudaLaunchAttribute attribute[1];
  attribute[0].id = cudaLaunchAttributeProgrammaticStreamSerialization;
  attribute[0].val.programmaticStreamSerializationAllowed = 1;
  config.attrs = attribute;
  config.numAttrs = 1;
  cudaLaunchKernelEx(&config, kernel, Parameters(arguments)...);
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
