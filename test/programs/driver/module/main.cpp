#include <cuda.h>

int main() {
  CUdevice device;
  CUcontext context;
  CUmodule module;
  CUfunction scale, halve;
  CUdeviceptr a;
  cuInit(0);
  cuDeviceGet(&device, 0);
  cuCtxCreate(&context, nullptr, 0, device);
  cuModuleLoad(&module, "kernels.ptx");
  cuModuleGetFunction(&scale, module, "scaleChunk");
  cuModuleGetFunction(&halve, module, "halveChunk");
  cuMemAlloc(&a, 17 * 256 * sizeof(float));
  void* arguments[] = {&a};
  cuLaunchKernel(scale, 16, 1, 1, 256, 1, 1, 0, nullptr, arguments, nullptr);
  cuLaunchKernel(halve, 16, 1, 1, 512, 1, 1, 0, nullptr, arguments, nullptr);
  return cuCtxSynchronize();
}
