// options: --arch sm_90
// expect: fill race=proved divergence=proved
// expect: fill finding ordering/pdl-wait error lines 20
// expect: copyLate race=proved divergence=proved
// expect: copyLate finding ordering/pdl-wait error lines 20
// expect: copyInTime race=proved divergence=proved
// expect: copyInTime silent
//
// The load comes before the wait.
#include <cuda_runtime.h>

__global__ void fill(float* x) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  cudaTriggerProgrammaticLaunchCompletion();
  x[i] = i;
}

__global__ void copyLate(float* y, const float* x) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  float value = x[i];
  cudaGridDependencySynchronize();
  y[i] = value;
}

__global__ void copyInTime(float* y, const float* x) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  cudaGridDependencySynchronize();
  float value = x[i];
  y[i] = value;
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
  launchEarly(copyLate, 4, 256, y, (const float*)x);
  fill<<<4, 256>>>(x);
  launchEarly(copyInTime, 4, 256, y, (const float*)x);
  return cudaDeviceSynchronize();
}
