// options: --arch sm_90
// expect: fill race=proved divergence=proved
// expect: fill finding ordering/pdl-wait error lines 21
// expect: copyWithoutBarrier race=proved divergence=proved
// expect: copyWithoutBarrier finding ordering/pdl-wait error lines 21
// expect: copyWithBarrier race=proved divergence=proved
// expect: copyWithBarrier silent
//
// Thread 0 waits for its block, with and without a barrier after it.
#include <cuda_runtime.h>

__global__ void fill(float* x) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  cudaTriggerProgrammaticLaunchCompletion();
  x[i] = i;
}

__global__ void copyWithoutBarrier(float* y, const float* x) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (threadIdx.x == 0) cudaGridDependencySynchronize();
  y[i] = x[i];
}

__global__ void copyWithBarrier(float* y, const float* x) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (threadIdx.x == 0) cudaGridDependencySynchronize();
  __syncthreads();
  y[i] = x[i];
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
  launchEarly(copyWithoutBarrier, 4, 256, y, (const float*)x);
  fill<<<4, 256>>>(x);
  launchEarly(copyWithBarrier, 4, 256, y, (const float*)x);
  return cudaDeviceSynchronize();
}
