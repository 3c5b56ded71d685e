// expect: scaleChunk race=proved divergence=proved
// expect: scaleChunk silent
// expect: scaleChunk launch main.cu:17 block=256 grid=4,8
// expect: halveChunk race=race divergence=proved
// expect: halveChunk finding race/global error on a lines 10
// expect: halveChunk launch main.cu:20 block=512 grid=16

__global__ void scaleChunk(float* a) { a[(blockIdx.y * gridDim.x + blockIdx.x) * 256 + threadIdx.x] *= 2.0f; }

__global__ void halveChunk(float* a) { a[blockIdx.x * 256 + threadIdx.x] *= 0.5f; }

void run(float* a) {
  void* arguments[] = {&a};
  cudaLaunchConfig_t config{};
  config.gridDim = dim3(4, 8);
  config.blockDim = dim3(256);
  cudaLaunchKernelExC(&config, (const void*)scaleChunk, arguments);
  config.gridDim = dim3(16);
  config.blockDim.x *= 2;
  cudaLaunchKernelExC(&config, (const void*)halveChunk, arguments);
}

