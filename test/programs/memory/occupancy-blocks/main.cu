// expect: turnAll race=proved divergence=proved
// expect: turnAll silent
// expect: turnAll launch main.cu:24 block=128 cooperative
// expect: turnAll launch main.cu:24 permits gridDim.x=108
//
// The number of blocks that fit the device at once, which is known only at run time.

#include <cooperative_groups.h>
namespace cg = cooperative_groups;

__global__ void turnAll(float* a) {
  int i = blockIdx.x * blockDim.x + threadIdx.x, count = gridDim.x * blockDim.x;
  float value = a[count - 1 - i];
  cg::this_grid().sync();
  a[i] = value;
}

void run(float* a) {
  int device, multiprocessors, each;
  cudaGetDevice(&device);
  cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, device);
  cudaOccupancyMaxActiveBlocksPerMultiprocessor(&each, turnAll, 128, 0);
  void* arguments[] = {&a};
  cudaLaunchCooperativeKernel((void*)turnAll, dim3(each * multiprocessors), dim3(128), arguments);
}
