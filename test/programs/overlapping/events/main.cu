// expect: fill race=proved divergence=proved
// expect: fill finding ordering/streams error lines 54
// expect: fill finding ordering/streams error lines 75
// expect: fill finding ordering/streams error lines 90
// expect: fill finding ordering/streams error lines 111
// expect: add race=proved divergence=proved
// expect: add finding ordering/streams error lines 45
// expect: add finding ordering/streams error lines 54
// expect: add finding ordering/streams error lines 75
// expect: add finding ordering/streams error lines 111
//
// Events, waits of the host, the default stream and streams that do not wait for it: right, and wrong in one place.
#include <cuda_runtime.h>

__global__ void fill(float* x, float value) { x[blockIdx.x * blockDim.x + threadIdx.x] = value; }

__global__ void add(float* y, const float* x) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  y[i] += x[i];
}

struct Arrays {
  float *x, *y;
  cudaStream_t s, t;
  Arrays(unsigned flags = cudaStreamDefault) {
    cudaMalloc(&x, 4096);
    cudaMalloc(&y, 4096);
    cudaStreamCreate(&s);
    cudaStreamCreateWithFlags(&t, flags);
  }
};

void wait(cudaStream_t stream, cudaStream_t other, cudaEvent_t event) {
  cudaEventRecord(event, other);
  cudaStreamWaitEvent(stream, event, 0);
}

void order(bool late) {
  Arrays a;
  cudaEvent_t e;
  cudaEventCreateWithFlags(&e, cudaEventDisableTiming);
  cudaEventRecord(e, a.s);
  fill<<<4, 256, 0, a.s>>>(a.x, 1);
  cudaStreamWaitEvent(a.t, e, 0);
  add<<<4, 256, 0, a.t>>>(a.y, a.x);
}

void swapped() {
  Arrays a;
  cudaEvent_t e;
  cudaEventCreate(&e);
  fill<<<4, 256, 0, a.s>>>(a.x, 1);
  wait(a.s, a.t, e);
  add<<<4, 256, 0, a.t>>>(a.y, a.x);
}

void helper() {
  Arrays a;
  cudaEvent_t e;
  cudaEventCreate(&e);
  fill<<<4, 256, 0, a.s>>>(a.x, 1);
  wait(a.t, a.s, e);
  add<<<4, 256, 0, a.t>>>(a.y, a.x);
}

void defaultStream() {
  Arrays a;
  fill<<<4, 256, 0, a.s>>>(a.x, 1);
  add<<<4, 256>>>(a.y, a.x);
}

void besideDefaultStream() {
  Arrays a(cudaStreamNonBlocking);
  fill<<<4, 256>>>(a.x, 1);
  add<<<4, 256, 0, a.t>>>(a.y, a.x);
}

void cleared() {
  Arrays a(cudaStreamNonBlocking);
  cudaMemset(a.x, 0, 4096);
  cudaDeviceSynchronize();
  add<<<4, 256, 0, a.t>>>(a.y, a.x);
}

void chunks(int n) {
  Arrays a;
  cudaStream_t streams[4];
  for (int i = 0; i < 4; i++) cudaStreamCreate(&streams[i]);
  for (int i = 0; i < 4; i++) {
    fill<<<1, 256, 0, streams[i]>>>(a.x + 256 * i, n);
    // The first element of the next chunk.
    add<<<1, 256, 0, streams[i]>>>(a.y + 256 * i, a.x + 256 * i + (i < 3));
  }
}

void separateChunks(int n) {
  Arrays a;
  cudaStream_t streams[4];
  for (int i = 0; i < 4; i++) cudaStreamCreate(&streams[i]);
  for (int i = 0; i < 4; i++) {
    fill<<<1, 256, 0, streams[i]>>>(a.x + 256 * i, n);
    add<<<1, 256, 0, streams[i]>>>(a.y + 256 * i, a.x + 256 * i);
  }
}

void joinedTooEarly() {
  Arrays a;
  fill<<<4, 256, 0, a.s>>>(a.x, 1);
  cudaStreamSynchronize(a.s);
  fill<<<4, 256, 0, a.s>>>(a.x, 2);
  add<<<4, 256, 0, a.t>>>(a.y, a.x);
}

void joined() {
  Arrays a;
  fill<<<4, 256, 0, a.s>>>(a.x, 1);
  cudaStreamSynchronize(a.s);
  add<<<4, 256, 0, a.t>>>(a.y, a.x);
}
