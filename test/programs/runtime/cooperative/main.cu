// expect: turnAll race=proved divergence=proved
// expect: turnAll silent
// expect: turnAll launch main.cu:29 block=256 grid=64 cooperative
// expect: turnEarly race=race divergence=proved
// expect: turnEarly finding race/global error on a lines 22,24
// expect: turnEarly launch main.cu:30 block=256 grid=64 cooperative
//
// The barrier of the grid orders all blocks of a cooperative launch; without it the second one races.

#include <cooperative_groups.h>
namespace cg = cooperative_groups;

__global__ void turnAll(float* a) {
  int i = blockIdx.x * blockDim.x + threadIdx.x, count = gridDim.x * blockDim.x;
  float value = a[count - 1 - i];
  cg::this_grid().sync();
  a[i] = value;
}

__global__ void turnEarly(float* a) {
  int i = blockIdx.x * blockDim.x + threadIdx.x, count = gridDim.x * blockDim.x;
  float value = a[count - 1 - i];
  __syncthreads();
  a[i] = value;
}

void run(float* a) {
  void* arguments[] = {&a};
  cudaLaunchCooperativeKernel((void*)turnAll, dim3(64), dim3(256), arguments, 0, 0);
  cudaLaunchCooperativeKernel(turnEarly, 64, 256, arguments);
}
