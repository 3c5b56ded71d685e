// expect: addAll race=proved divergence=proved
// expect: addAll silent
// expect: addAll launch main.cu:26 block=256 grid=4 where n=1000
// expect: addRing race=race divergence=proved
// expect: addRing finding race/global error on a lines 19
// expect: addRing launch main.cu:27 block=256 grid=4 where n=1000
//
// The number of elements comes from the command line: any positive integer, also one larger than the ring.

#include <cstdlib>

__global__ void addAll(float* a, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) a[i] += 1.0f;
}

__global__ void addRing(float* a, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) a[i % 4096] += 1.0f;
}

int main(int argc, char** argv) {
  int n = argc > 1 ? atoi(argv[1]) : 1 << 20;
  float* a;
  cudaMalloc(&a, n * sizeof(float));
  addAll<<<(n + 255) / 256, 256>>>(a, n);
  addRing<<<(n + 255) / 256, 256>>>(a, n);
  return cudaDeviceSynchronize();
}

