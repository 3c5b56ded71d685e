// expect: sumParts race=proved divergence=proved
// expect: sumParts silent
// expect: sumParts launch main.cu:30 block=256 grid=4 where n=1000
// expect: sumParts launch main.cu:30 permits gridDim.x=64,n=1000000
// expect: sumParts launch main.cu:30 excludes gridDim.x=65
// expect: sumPartsFar race=possible divergence=proved
// expect: sumPartsFar finding memory/out-of-bounds error on parts lines 25
// expect: sumPartsFar launch main.cu:32 block=256 grid=128 args n=1000000
//
// There is a part for each of 64 blocks; the second launch has up to 128.

#include <algorithm>

__device__ float parts[64];

__global__ void sumParts(const float* in, int n) {
  float sum = 0.0f;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) sum += in[i];
  if (threadIdx.x == 0) parts[blockIdx.x] = sum;
}

__global__ void sumPartsFar(const float* in, int n) {
  float sum = 0.0f;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) sum += in[i];
  if (threadIdx.x == 0) parts[blockIdx.x] = sum;
}

void run(const float* in, int n) {
  int blocks = std::min((n + 255) / 256, 64);
  sumParts<<<blocks, 256>>>(in, n);
  const int count = 1000000;
  sumPartsFar<<<std::min((count + 255) / 256, 128), 256>>>(in, count);
}

