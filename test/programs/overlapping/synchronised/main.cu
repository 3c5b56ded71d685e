// expect: add race=proved divergence=proved
// expect: add silent
// expect: count race=proved divergence=proved
// expect: count silent
// expect: sample race=proved divergence=proved
// expect: sample silent
// expect: mark race=proved divergence=proved
// expect: mark silent
// expect: clear race=proved divergence=proved
// expect: clear finding ordering/streams error lines 78
//
// Kernels of two streams that synchronise with each other, by a lock and by strong accesses, and that set the same flag.
#include <cuda/atomic>
#include <cuda_runtime.h>

__device__ void lock(int* mutex) {
  while (atomicCAS(mutex, 0, 1) != 0) {
  }
  __threadfence();
}

__device__ void unlock(int* mutex) {
  __threadfence();
  atomicExch(mutex, 0);
}

__global__ void add(float* total, int* mutex, const float* x) {
  if (threadIdx.x != 0) return;
  lock(mutex);
  *total += x[0];
  unlock(mutex);
}

__global__ void count(int* counter) { atomicAdd(counter, 1); }

__global__ void sample(int* counter, int* out) {
  *out = cuda::atomic_ref<int, cuda::thread_scope_device>(*counter).load(cuda::memory_order_relaxed);
}

__global__ void mark(int* done) { *done = 1; }

__global__ void clear(int* done) { *done = 0; }

struct Streams {
  cudaStream_t s, t;
  Streams() {
    cudaStreamCreate(&s);
    cudaStreamCreate(&t);
  }
};

void locked(const float* x, const float* y) {
  Streams of;
  float* total;
  int* mutex;
  cudaMalloc(&total, 4);
  cudaMalloc(&mutex, 4);
  add<<<1, 32, 0, of.s>>>(total, mutex, x);
  add<<<1, 32, 0, of.t>>>(total, mutex, y);
}

void counted(int* out) {
  Streams of;
  int* counter;
  cudaMalloc(&counter, 4);
  count<<<4, 256, 0, of.s>>>(counter);
  sample<<<1, 1, 0, of.t>>>(counter, out);
}

void marked() {
  Streams of;
  int* done;
  cudaMalloc(&done, 4);
  mark<<<4, 256, 0, of.s>>>(done);
  mark<<<4, 256, 0, of.t>>>(done);
  cudaDeviceSynchronize();
  mark<<<1, 1, 0, of.s>>>(done);
  clear<<<1, 1, 0, of.t>>>(done);
}
