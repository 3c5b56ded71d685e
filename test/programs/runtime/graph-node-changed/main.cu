// expect: scaleChunk race=race divergence=proved
// expect: scaleChunk finding race/global error on a lines 8
// expect: scaleChunk launch main.cu:18 block=256 grid=16
// expect: scaleChunk launch main.cu:20 block=512 grid=16
//
// The node is correct at first, and gets another block later.

__global__ void scaleChunk(float* a) { a[blockIdx.x * 256 + threadIdx.x] *= 2.0f; }

void build(cudaGraph_t graph, cudaGraphExec_t executable, float* a) {
  cudaGraphNode_t node;
  void* arguments[1] = {(void*)&a};
  cudaKernelNodeParams parameters = {0};
  parameters.func = (void*)scaleChunk;
  parameters.gridDim = dim3(16);
  parameters.blockDim = dim3(256);
  parameters.kernelParams = arguments;
  cudaGraphAddKernelNode(&node, graph, nullptr, 0, &parameters);
  parameters.blockDim = dim3(512);
  cudaGraphExecKernelNodeSetParams(executable, node, &parameters);
}

