#include "run.h"
#include <cuda_runtime.h>

int main() {
  const int threads = 256;
  float *a, *b;
  cudaMalloc((void**)&a, 16 * threads * sizeof(float));
  cudaMalloc((void**)&b, 16 * threads * sizeof(float));
  runScale(a, 16, threads);
  runShift(b, a, threads / 4);
  return cudaDeviceSynchronize();
}
