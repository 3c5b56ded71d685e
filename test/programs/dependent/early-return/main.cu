// options: --arch sm_90
// expect: fill race=proved divergence=proved
// expect: fill finding ordering/pdl-wait error lines 21
// expect: copyOrReturn race=proved divergence=proved
// expect: copyOrReturn finding ordering/pdl-wait error lines 21
// expect: returnOrCopy race=proved divergence=proved
// expect: returnOrCopy silent
//
// Threads return before the wait: one after a load, the other without an access.
#include <cuda_runtime.h>

__global__ void fill(float* x) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  cudaTriggerProgrammaticLaunchCompletion();
  x[i] = i;
}

__global__ void copyOrReturn(float* y, const float* x, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) {
    y[i] = x[i];
    return;
  }
  cudaGridDependencySynchronize();
  y[i] = 2 * x[i];
}

__global__ void returnOrCopy(float* y, const float* x, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  cudaGridDependencySynchronize();
  y[i] = 2 * x[i];
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
  launchEarly(copyOrReturn, 4, 256, y, (const float*)x, 600);
  fill<<<4, 256>>>(x);
  launchEarly(returnOrCopy, 4, 256, y, (const float*)x, 600);
  return cudaDeviceSynchronize();
}
