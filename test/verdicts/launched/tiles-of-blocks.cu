// expect: tilesByWarps race=proved divergence=proved
// expect: tilesByWarps silent
// expect: tilesByWarps launch tiles-of-blocks.cu:58 block=256 shared=4096
// expect: tilesByWarps launch tiles-of-blocks.cu:58 excludes gridDim.x=400000
// expect: tilesNarrow race=race divergence=proved
// expect: tilesNarrow finding race/global error on d lines 31
// expect: tilesOfRest race=proved divergence=proved
// expect: tilesOfRest silent
// expect: tilesOfRestWrong race=race divergence=proved
// expect: tilesOfRestWrong finding race/global warning on d lines 46
//
// Blocks iterate over tiles of a matrix, by quotient and remainder of a counter with the stride of the grid. The grid
// depends on the device, which is known only at run time.

__global__ void tilesByWarps(float4* d) {
  const unsigned warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  for (unsigned p = blockIdx.x;; p += gridDim.x) {
    const unsigned i = ((p * 8) / 128) * 8, j = (p * 8) % 128;
    if (i >= 64) break;
    float* row = (float*)d + (i + warp) * 2 * 2048 + j * 16;
    for (int k = 0; k < 2; k++) *((float4*)(row + 2048 * k) + lane) = make_float4(p, warp, lane, k);
  }
}

__global__ void tilesNarrow(float4* d) {
  const unsigned warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  for (unsigned p = blockIdx.x;; p += gridDim.x) {
    const unsigned i = ((p * 8) / 128) * 8, j = (p * 8) % 128;
    if (i >= 64) break;
    float* row = (float*)d + (i + warp) * 2 * 2048 + j * 8;
    for (int k = 0; k < 2; k++) *((float4*)(row + 2048 * k) + lane) = make_float4(p, warp, lane, k);
  }
}

__global__ void tilesOfRest(float* d) {
  for (unsigned p = blockIdx.x; p < 60; p += gridDim.x) {
    const unsigned i = p / 6, j = p % 6;
    d[(i * 6 + j) * 256 + threadIdx.x] = p;
  }
}

// Quotient and remainder of different divisors.
__global__ void tilesOfRestWrong(float* d) {
  for (unsigned p = blockIdx.x; p < 60; p += gridDim.x) {
    const unsigned i = p / 6, j = p % 5;
    d[(i * 6 + j) * 256 + threadIdx.x] = p;
  }
}

int main() {
  cudaDeviceProp properties;
  cudaGetDeviceProperties(&properties, 0);
  float *a, *b;
  cudaMalloc(&a, 1 << 20);
  cudaMalloc(&b, 1 << 20);
  enum { bytes = 1024 * sizeof(float), none = 0 };
  const int blocks = properties.multiProcessorCount, threads = 256;
  tilesByWarps<<<properties.multiProcessorCount * 2, 256, bytes>>>((float4*)a);
  tilesNarrow<<<properties.multiProcessorCount, 256>>>((float4*)a);
  tilesOfRest<<<blocks, threads, none>>>(b);
  tilesOfRestWrong<<<blocks, threads>>>(b);
  return cudaDeviceSynchronize();
}
