// expect: fill race=proved divergence=proved
// expect: fill silent
// expect: add race=proved divergence=proved
// expect: add finding ordering/streams error lines 43
// expect: add finding ordering/streams error lines 60
//
// Nodes of a graph, with and without an edge, and a graph that is captured from two streams.
#include <cuda_runtime.h>

__global__ void fill(float* x, float value) { x[blockIdx.x * blockDim.x + threadIdx.x] = value; }

__global__ void add(float* y, const float* x) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  y[i] += x[i];
}

cudaKernelNodeParams node(void* kernel, void** arguments) {
  cudaKernelNodeParams made = {};
  made.func = kernel;
  made.gridDim = dim3(4);
  made.blockDim = dim3(256);
  made.kernelParams = arguments;
  return made;
}

void build(bool isOrdered) {
  float *x, *y, value = 1;
  cudaMalloc(&x, 4096);
  cudaMalloc(&y, 4096);
  cudaGraph_t graph;
  cudaGraphCreate(&graph, 0);
  cudaGraphNode_t first, second;
  void* filled[] = {&x, &value};
  void* added[] = {&y, &x};
  cudaKernelNodeParams one = node((void*)fill, filled);
  cudaKernelNodeParams two = node((void*)add, added);
  cudaGraphAddKernelNode(&first, graph, nullptr, 0, &one);
  if (isOrdered) {
    cudaGraphAddKernelNode(&second, graph, &first, 1, &two);
    return;
  }
  // No edge leads from the first node to this one.
  cudaGraphAddKernelNode(&second, graph, nullptr, 0, &two);
}

void capture(bool isForked) {
  float *x, *y;
  cudaMalloc(&x, 4096);
  cudaMalloc(&y, 4096);
  cudaStream_t s, t;
  cudaStreamCreate(&s);
  cudaStreamCreate(&t);
  cudaEvent_t e;
  cudaEventCreate(&e);
  cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal);
  cudaEventRecord(e, s);
  cudaStreamWaitEvent(t, e, 0);
  fill<<<4, 256, 0, s>>>(x, 1);
  // The fork is before the first kernel.
  add<<<4, 256, 0, t>>>(y, x);
  cudaGraph_t graph;
  cudaStreamEndCapture(s, &graph);
}

void captureInOrder() {
  float *x, *y;
  cudaMalloc(&x, 4096);
  cudaMalloc(&y, 4096);
  cudaStream_t s, t;
  cudaStreamCreate(&s);
  cudaStreamCreate(&t);
  cudaEvent_t e;
  cudaEventCreate(&e);
  cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal);
  fill<<<4, 256, 0, s>>>(x, 1);
  cudaEventRecord(e, s);
  cudaStreamWaitEvent(t, e, 0);
  add<<<4, 256, 0, t>>>(y, x);
  cudaGraph_t graph;
  cudaStreamEndCapture(s, &graph);
}
