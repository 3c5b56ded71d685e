// expect: scaleChunk race=proved divergence=proved
// expect: scaleChunk silent
// expect: scaleChunk launch main.cu:34 block=256 grid=4 where n=1000
// expect: halveChunk race=race divergence=proved
// expect: halveChunk finding race/global error on a lines 31
// expect: halveChunk launch main.cu:35 block=512 grid=16

#include <cstdio>
#include <cstdlib>

#define BLOCK 256
#define CHECK(call)                                            \
  do {                                                         \
    cudaError_t status = (call);                               \
    if (status != cudaSuccess) {                               \
      fprintf(stderr, "%s\n", cudaGetErrorString(status));     \
      exit(1);                                                 \
    }                                                          \
  } while (0)
#define LAUNCH(kernel, blocks, threads, ...)   \
  do {                                         \
    kernel<<<blocks, threads>>>(__VA_ARGS__);  \
    CHECK(cudaGetLastError());                 \
  } while (0)

__global__ void scaleChunk(float* a, int n) {
  int i = blockIdx.x * BLOCK + threadIdx.x;
  if (i < n) a[i] *= 2.0f;
}

__global__ void halveChunk(float* a) { a[blockIdx.x * BLOCK + threadIdx.x] *= 0.5f; }

void run(float* a, int n) {
  LAUNCH(scaleChunk, (n + BLOCK - 1) / BLOCK, BLOCK, a, n);
  LAUNCH(halveChunk, 16, 2 * BLOCK, a);
}

