// options: --arch sm_90
// expect: fill race=proved divergence=proved
// expect: fill finding ordering/pdl-wait error lines 21
// expect: copySome race=proved divergence=proved
// expect: copySome finding ordering/pdl-wait error lines 21
// expect: copyBoth race=proved divergence=proved
// expect: copyBoth silent
//
// Some blocks do not wait.
#include <cuda_runtime.h>

__global__ void fill(float* x) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  cudaTriggerProgrammaticLaunchCompletion();
  x[i] = i;
}

__global__ void copySome(float* y, const float* x) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (blockIdx.x > 0) cudaGridDependencySynchronize();
  y[i] = x[i];
}

__global__ void copyBoth(float* y, const float* x) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (blockIdx.x > 0) {
    cudaGridDependencySynchronize();
    y[i] = x[i];
  } else {
    cudaGridDependencySynchronize();
    y[i] = 2 * x[i];
  }
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
  launchEarly(copySome, 4, 256, y, (const float*)x);
  fill<<<4, 256>>>(x);
  launchEarly(copyBoth, 4, 256, y, (const float*)x);
  return cudaDeviceSynchronize();
}
