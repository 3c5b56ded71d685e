// expect: produce race=proved divergence=proved
// expect: produce finding ordering/streams error lines 37
// expect: consume race=proved divergence=proved
//
// Two streams use two buffers alternately, in any number of iterations: with and without an event for the end of their use.
#include <cuda_runtime.h>

__global__ void produce(float* x) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  x[i] = i;
}

__global__ void consume(float* y, const float* x) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  y[i] += x[i];
}

struct Pipeline {
  float *x, *y;
  cudaStream_t s, t;
  cudaEvent_t made, used[2];
  Pipeline() {
    cudaMalloc(&x, 8192);
    cudaMalloc(&y, 4096);
    cudaStreamCreate(&s);
    cudaStreamCreate(&t);
    cudaEventCreate(&made);
    cudaEventCreate(&used[0]);
    cudaEventCreate(&used[1]);
  }
};

void overwrite(int n) {
  Pipeline p;
  for (int i = 0; i < n; i++) {
    float* x = p.x + 1024 * (i & 1);
    produce<<<4, 256, 0, p.s>>>(x);
    cudaEventRecord(p.made, p.s);
    cudaStreamWaitEvent(p.t, p.made, 0);
    consume<<<4, 256, 0, p.t>>>(p.y, x);
  }
}

void keep(int n) {
  Pipeline p;
  for (int i = 0; i < n; i++) {
    float* x = p.x + 1024 * (i & 1);
    if (i >= 2) cudaStreamWaitEvent(p.s, p.used[i & 1], 0);
    produce<<<4, 256, 0, p.s>>>(x);
    cudaEventRecord(p.made, p.s);
    cudaStreamWaitEvent(p.t, p.made, 0);
    consume<<<4, 256, 0, p.t>>>(p.y, x);
    cudaEventRecord(p.used[i & 1], p.t);
  }
}
