// options: --arch sm_90
// expect: fill race=proved divergence=proved
// expect: fill finding ordering/pdl-wait error lines 29
// expect: scaleByMacro race=proved divergence=proved
// expect: scaleByMacro finding ordering/pdl-wait error lines 29
// expect: scaleDirectly race=proved divergence=proved
// expect: scaleDirectly silent
//
// The attribute is set by a macro and a wrapper, as in libraries that compile for older architectures, too.
#include <cuda_runtime.h>
#include <utility>

__global__ void fill(float* x) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  cudaTriggerProgrammaticLaunchCompletion();
  x[i] = i;
}

#if __CUDA_ARCH__ >= 900 && defined(USE_WAIT)
#define WAIT() cudaGridDependencySynchronize()
#else
#define WAIT()
#endif

/** The wait is compiled only with a macro that this file does not define. */
__global__ void scaleByMacro(float* y, const float* x, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  WAIT();
  if (i < n) y[i] = 2 * x[i];
}

__global__ void scaleDirectly(float* y, const float* x, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  cudaGridDependencySynchronize();
  if (i < n) y[i] = 2 * x[i];
}

#define LAUNCH(kernel, blocks, threads, stream, ...)                                  \
  do {                                                                                \
    launch_params params(blocks, threads, stream);                                    \
    launchWith(params, kernel, __VA_ARGS__);                                          \
  } while (0)

struct launch_params {
  cudaLaunchConfig_t config = {};
  cudaLaunchAttribute attribute = {};
  launch_params(int blocks, int threads, cudaStream_t stream) {
    config.gridDim = blocks;
    config.blockDim = threads;
    config.stream = stream;
    attribute.id = cudaLaunchAttributeProgrammaticStreamSerialization;
    attribute.val.programmaticStreamSerializationAllowed = 1;
    config.attrs = &attribute;
    config.numAttrs = 1;
  }
};

template <typename Kernel, typename... Arguments>
void launchWith(const launch_params& params, Kernel kernel, Arguments&&... arguments) {
  cudaLaunchKernelEx(&params.config, kernel, std::forward<Arguments>(arguments)...);
}

void run(float* y, float* x, int n, cudaStream_t stream) {
  fill<<<n / 256, 256, 0, stream>>>(x);
  LAUNCH(scaleByMacro, (n + 255) / 256, 256, stream, y, (const float*)x, n);
  fill<<<n / 256, 256, 0, stream>>>(x);
  LAUNCH(scaleDirectly, (n + 255) / 256, 256, stream, y, (const float*)x, n);
}
