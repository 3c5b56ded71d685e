// expect: fillTable race=proved divergence=proved
// expect: readTable race=proved divergence=proved
// expect: readTable finding ordering/streams error lines 37
// expect: readOther race=proved divergence=proved
// expect: readOther silent
// expect: count race=proved divergence=proved
// expect: count silent
//
// Kernels of two streams use a variable of the module.
#include <cuda_runtime.h>

__device__ float table[1024];
__device__ int counter;

__global__ void fillTable() { table[blockIdx.x * blockDim.x + threadIdx.x] = 1; }

__global__ void readTable(float* y) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  y[i] = table[i];
}

__global__ void readOther(float* y) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  y[i] = table[i + 512];
}

__global__ void count() { atomicAdd(&counter, 1); }

int main() {
  float *y, *z;
  cudaMalloc(&y, 4096);
  cudaMalloc(&z, 4096);
  cudaStream_t s, t;
  cudaStreamCreate(&s);
  cudaStreamCreate(&t);
  fillTable<<<2, 256, 0, s>>>();
  readTable<<<4, 256, 0, t>>>(y);
  cudaDeviceSynchronize();
  fillTable<<<2, 256, 0, s>>>();
  readOther<<<2, 256, 0, t>>>(y);
  cudaDeviceSynchronize();
  readTable<<<4, 256, 0, s>>>(y);
  readTable<<<4, 256, 0, t>>>(z);
  count<<<4, 256, 0, s>>>();
  count<<<4, 256, 0, t>>>();
  return cudaDeviceSynchronize();
}
