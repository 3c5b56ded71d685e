// expect: scaleChunk race=proved divergence=proved
// expect: scaleChunk silent
// expect: scaleChunk launch main.cu:25 block=256 grid=4 where n=1000
// expect: halveChunk race=race divergence=proved
// expect: halveChunk finding race/global error on a lines 13
// expect: halveChunk launch main.cu:31 block=512 grid=16

__global__ void scaleChunk(float* a, int n) {
  int i = blockIdx.x * 256 + threadIdx.x;
  if (i < n) a[i] *= 2.0f;
}

__global__ void halveChunk(float* a) { a[blockIdx.x * 256 + threadIdx.x] *= 0.5f; }

void build(cudaGraph_t graph, float* a, int n) {
  cudaGraphNode_t first, second;
  cudaKernelNodeParams parameters = {0};
  void* arguments[2] = {(void*)&a, &n};
  parameters.func = (void*)scaleChunk;
  parameters.gridDim = dim3((n + 255) / 256, 1, 1);
  parameters.blockDim = dim3(256, 1, 1);
  parameters.sharedMemBytes = 0;
  parameters.kernelParams = arguments;
  parameters.extra = nullptr;
  cudaGraphAddKernelNode(&first, graph, nullptr, 0, &parameters);
  void* others[1] = {(void*)&a};
  parameters.func = (void*)halveChunk;
  parameters.gridDim = dim3(16, 1, 1);
  parameters.blockDim = dim3(512, 1, 1);
  parameters.kernelParams = others;
  cudaGraphAddKernelNode(&second, graph, &first, 1, &parameters);
}

