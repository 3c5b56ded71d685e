// expect: narrowTile race=proved divergence=proved
// expect: narrowTile silent
// expect: narrowTileOverlaps race=race divergence=proved
// expect: narrowTileOverlaps finding race/shared error on s lines 33
// expect: startsOver race=race divergence=proved
// expect: startsOver finding race/global error on out lines 43
// expect: startsOverApart race=proved divergence=proved
// expect: startsOverApart silent
// expect: wholeIsRead race=proved divergence=proved
// expect: wholeIsRead silent
//
// Loop variables of 8 and 16 bits, some of which start over.
#include <cuda_runtime.h>

__device__ void fill(unsigned char *s, short width, short pitch, int extra) {
  for (short i = threadIdx.x; i < width; i += blockDim.x) {
    s[threadIdx.y * pitch + 4 * i] = extra;
    s[threadIdx.y * pitch + 4 * i + 3] = i;
  }
}

__global__ void narrowTile(unsigned char *out, short width, short pitch) {
  __shared__ unsigned char s[4 * 384];
  fill(s, width, pitch, blockIdx.x);
  __syncthreads();
  out[blockIdx.x * 64 + threadIdx.y * 16 + threadIdx.x] = s[threadIdx.y * pitch + 4 * threadIdx.x];
}

// A row has one element more than its pitch.
__global__ void narrowTileOverlaps(unsigned char *out, short width, short pitch) {
  __shared__ unsigned char s[4 * 384 + 1];
  for (short i = threadIdx.x; i <= width; i += blockDim.x)
    s[threadIdx.y * pitch + i] = threadIdx.y;
  __syncthreads();
  out[blockIdx.x * 64 + threadIdx.y * 16 + threadIdx.x] = s[threadIdx.y * pitch + threadIdx.x];
}

// Threads t and t + 128 come to each other's elements.
__global__ void startsOver(int *out) {
  unsigned char c = threadIdx.x;
  for (int k = 0; k < 2; k++) {
    // Two iterations.
    out[blockIdx.x * 512 + c] = threadIdx.x;
    c += 128;
  }
}

__global__ void startsOverApart(int *out) {
  unsigned char c = threadIdx.x;
  for (int k = 0; k < 2; k++) {
    out[blockIdx.x * 256 + c] = threadIdx.x;
    c += 0;
  }
}

// The whole variable is read in addition to its lower 16 bits.
__global__ void wholeIsRead(int *out, int n) {
  int i = threadIdx.x;
  while (i < n) {
    out[blockIdx.x * n + i] = (short)i;
    i += blockDim.x;
  }
}

int main() {
  unsigned char *bytes;
  int *numbers;
  cudaMalloc(&bytes, 64 * 64);
  cudaMalloc(&numbers, 64 * 512 * sizeof(int));
  narrowTile<<<64, dim3(16, 4)>>>(bytes, 82, 384);
  narrowTileOverlaps<<<64, dim3(16, 4)>>>(bytes, 384, 384);
  startsOver<<<64, 256>>>(numbers);
  startsOverApart<<<64, 256>>>(numbers);
  wholeIsRead<<<64, 256>>>(numbers, 400);
  return cudaDeviceSynchronize();
}
