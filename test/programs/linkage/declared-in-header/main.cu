#include "kernels.h"

int main() {
  float* a;
  cudaMalloc(&a, 8192 * sizeof(float));
  scaleChunk<<<16, 256>>>(a);
  halveChunk<<<16, 512>>>(a);
  return cudaDeviceSynchronize();
}
