// expect: count race=proved divergence=proved
// expect: count silent
// expect: collect race=proved divergence=proved
// expect: collect finding ordering/streams error lines 27
//
// Two streams that count with atomics in one array, and one that reads the counters meanwhile.
#include <cuda_runtime.h>

__global__ void count(unsigned* counters) {
  atomicAdd(&counters[threadIdx.x % 32], 1);
}

__global__ void collect(unsigned* sums, const unsigned* counters) {
  sums[threadIdx.x] = counters[threadIdx.x];
}

void counted() {
  unsigned *counters, *sums;
  cudaMalloc(&counters, 128);
  cudaMalloc(&sums, 128);
  cudaStream_t s, t;
  cudaStreamCreate(&s);
  cudaStreamCreate(&t);
  count<<<4, 256, 0, s>>>(counters);
  count<<<4, 256, 0, t>>>(counters);
  cudaStreamSynchronize(s);
  collect<<<1, 32, 0, s>>>(sums, counters);
}
