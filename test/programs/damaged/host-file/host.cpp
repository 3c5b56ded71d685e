#include <cuda_runtime.h>
#include "run.h"

void runHalve(float* a) {
  void* arguments[] = {&a};
  cudaLaunchKernel((const void*)halveChunk, dim3(16), dim3(512), arguments, 0, 0);
}

template <typename = int }} void broken( {{{ "never closed
  if (for (while
