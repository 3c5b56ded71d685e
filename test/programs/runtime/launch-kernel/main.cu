// expect: scaleChunk race=proved divergence=proved
// expect: scaleChunk silent
// expect: scaleChunk launch main.cu:15 block=256 grid=16 args n=3
// expect: halveChunk race=race divergence=proved
// expect: halveChunk finding race/global error on a lines 10
// expect: halveChunk launch main.cu:18 block=512 grid=16

__global__ void scaleChunk(float* a, int n) { a[blockIdx.x * 256 + threadIdx.x] *= n; }

__global__ void halveChunk(float* a) { a[blockIdx.x * 256 + threadIdx.x] *= 0.5f; }

void run(float* a) {
  int n = 3;
  void* arguments[] = {&a, &n};
  cudaLaunchKernel((const void*)scaleChunk, dim3(16), dim3(256), arguments, 0, nullptr);
  void* others[1];
  others[0] = &a;
  cudaLaunchKernel(reinterpret_cast<const void*>(&halveChunk), 16, 512, others, 0, 0);
}
