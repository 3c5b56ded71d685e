// expect: brightenRows race=proved divergence=proved
// expect: brightenRows silent
// expect: brightenRowsWrong race=race divergence=proved
// expect: brightenRowsWrong finding race/global error on out lines 20
// expect: cutOff race=race divergence=proved
// expect: cutOff finding race/global error on out lines 26
//
// Products of 24 bits: factors that fit, and factors that do not.
#include <cuda_runtime.h>

__global__ void brightenRows(float *out, const float *in, int w, int h) {
  int x = __mul24(blockIdx.x, blockDim.x) + threadIdx.x, y = __mul24(blockIdx.y, blockDim.y) + threadIdx.y;
  if (x < w && y < h) out[__mul24(y, w) + x] = 2.0f * in[__mul24(y, w) + x];
}

// The stride of a row is less than the row.
__global__ void brightenRowsWrong(float *out, const float *in, int w, int h) {
  int x = __mul24(blockIdx.x, blockDim.x) + threadIdx.x, y = __mul24(blockIdx.y, blockDim.y) + threadIdx.y;
  if (x < w && y < h)
    out[__mul24(y, w - 1) + x] = 2.0f * in[__mul24(y, w) + x];
}

// The stride of blocks is 2^24, more than a factor of __umul24 can represent.
__global__ void cutOff(int *out) {
  int i = __umul24(blockIdx.x * (1 << 24) + threadIdx.x, 2);
  out[i] = blockIdx.x;
}

int main() {
  float *a, *b;
  cudaMalloc(&a, 1920 * 1080 * sizeof(float));
  cudaMalloc(&b, 1920 * 1080 * sizeof(float));
  brightenRows<<<dim3(120, 68), dim3(16, 16)>>>(b, a, 1920, 1080);
  brightenRowsWrong<<<dim3(120, 68), dim3(16, 16)>>>(b, a, 1920, 1080);
  cutOff<<<4, 128>>>((int *)a);
  return cudaDeviceSynchronize();
}
