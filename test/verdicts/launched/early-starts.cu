// options: --arch sm_90
// expect: firstOfTwo race=proved divergence=proved
// expect: firstOfTwo assumes stable-memory
// expect: firstOfTwo silent
// expect: secondOfTwo race=proved divergence=proved
// expect: secondOfTwo silent
// expect: withAttribute race=proved divergence=proved
// expect: withAttribute assumes stable-memory
// expect: withAttribute finding ordering/pdl-wait error lines 33
// expect: withAttribute launch early-starts.cu:57 block=256 grid=4
// expect: withAttributeOff race=proved divergence=proved
// expect: withAttributeOff launch early-starts.cu:60 block=256 grid=4
// expect: racyWithAttribute race=race divergence=proved
// expect: racyWithAttribute finding ordering/pdl-wait error lines 43
// expect: racyWithAttribute finding race/global error on y lines 43
//
// A kernel that starts while the one before it in the stream still runs is proved for the case that it has ended.
#include <cuda_runtime.h>

__global__ void firstOfTwo(float* x) {
  x[blockIdx.x * blockDim.x + threadIdx.x] = 1.0f;
  cudaTriggerProgrammaticLaunchCompletion();
}

__global__ void secondOfTwo(float* y, const float* x) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  cudaGridDependencySynchronize();
  y[i] = x[i];
}

__global__ void withAttribute(float* y, const float* x) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  y[i] = x[i];
}

__global__ void withAttributeOff(float* y, const float* x) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  y[i] = x[i];
}

__global__ void racyWithAttribute(float* y, const float* x) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  y[i / 2] = x[i];
}

void run(float* x, float* y) {
  firstOfTwo<<<4, 256>>>(x);
  secondOfTwo<<<4, 256>>>(y, x);
  cudaLaunchConfig_t config = {};
  config.gridDim = 4;
  config.blockDim = 256;
  cudaLaunchAttribute attributes[1];
  attributes[0].id = cudaLaunchAttributeProgrammaticStreamSerialization;
  attributes[0].val.programmaticStreamSerializationAllowed = 1;
  config.attrs = attributes;
  config.numAttrs = 1;
  cudaLaunchKernelEx(&config, withAttribute, y, (const float*)x);
  cudaLaunchKernelEx(&config, racyWithAttribute, y, (const float*)x);
  attributes[0].val.programmaticStreamSerializationAllowed = 0;
  cudaLaunchKernelEx(&config, withAttributeOff, y, (const float*)x);
}
