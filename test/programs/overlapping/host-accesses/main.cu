// expect: fill race=proved divergence=proved
// expect: fill finding ordering/host error lines 25
// expect: fill finding ordering/host error lines 41
// expect: fill finding ordering/host error lines 55
// expect: fill finding ordering/host error lines 72
// expect: fill finding ordering/host error lines 94
// expect: fill finding ordering/host error lines 108
// expect: sum race=proved divergence=proved
// expect: sum silent
//
// Accesses of the host to managed and pinned memory, with and without a wait before them.
#include <cstdio>
#include <cuda_runtime.h>

__global__ void fill(float* x, float value) { x[blockIdx.x * blockDim.x + threadIdx.x] = value; }

__global__ void sum(float* out, const float* x, int n) {
  for (int i = 0; i < n; i++) out[threadIdx.x] += x[i];
}

void read() {
  float* m;
  cudaMallocManaged(&m, 4096);
  fill<<<4, 256>>>(m, 1);
  printf("%f\n",
    m[5]);
}

void readAfterWait() {
  float* m;
  cudaMallocManaged(&m, 4096);
  fill<<<4, 256>>>(m, 1);
  cudaDeviceSynchronize();
  printf("%f\n", m[5]);
}

void overwritten() {
  float* m;
  cudaMallocManaged(&m, 4096);
  fill<<<4, 256>>>(m, 1);
  m[1023] = 3;
  cudaDeviceSynchronize();
}

void outsideOfTheGrid() {
  float* m;
  cudaMallocManaged(&m, 8192);
  fill<<<4, 256>>>(m, 1);
  m[1024] = 3;
  cudaDeviceSynchronize();
}

float total(const float* values, int count) {
  float all = 0;
  for (int i = 0; i < count; i++) all += values[i];
  return all;
}

void inFunction(int n) {
  float* m;
  cudaMallocManaged(&m, 4096);
  fill<<<4, 256>>>(m, 1);
  if (n > 10 && n <= 1024) printf("%f\n", total(m, n));
}

void copied() {
  float *d, *h;
  cudaMalloc(&d, 4096);
  cudaMallocHost(&h, 4096);
  fill<<<4, 256>>>(d, 1);
  cudaMemcpyAsync(h, d, 4096, cudaMemcpyDeviceToHost);
  printf("%f\n", h[7]);
}

void copiedAndWaited() {
  float *d, *h;
  cudaMalloc(&d, 4096);
  cudaMallocHost(&h, 4096);
  fill<<<4, 256>>>(d, 1);
  cudaMemcpyAsync(h, d, 4096, cudaMemcpyDeviceToHost);
  cudaStreamSynchronize(0);
  printf("%f\n", h[7]);
}

void reused() {
  float *d, *h;
  cudaStream_t s;
  cudaStreamCreate(&s);
  cudaMalloc(&d, 4096);
  cudaHostAlloc(&h, 4096, 0);
  fill<<<4, 256, 0, s>>>(d, 1);
  h[0] = 1;
  cudaMemcpyAsync(d, h, 4096, cudaMemcpyHostToDevice, s);
  h[0] = 2;
  cudaMemcpyAsync(d, h, 4096, cudaMemcpyHostToDevice, s);
  cudaStreamSynchronize(s);
}

void wrongStream() {
  float* m;
  cudaStream_t s, t;
  cudaStreamCreate(&s);
  cudaStreamCreate(&t);
  cudaMallocManaged(&m, 4096);
  fill<<<4, 256, 0, s>>>(m, 1);
  sum<<<1, 32, 0, t>>>(nullptr, nullptr, 0);
  cudaStreamSynchronize(t);
  m[0] = 4;
  cudaDeviceSynchronize();
}

void pageable() {
  float *d, *h = new float[1024];
  cudaMalloc(&d, 4096);
  fill<<<4, 256>>>(d, 1);
  cudaMemcpyAsync(h, d, 4096, cudaMemcpyDeviceToHost);
  printf("%f\n", h[7]);
}

void prepared() {
  float* m;
  cudaMallocManaged(&m, 4096);
  for (int i = 0; i < 1024; i++) m[i] = i;
  fill<<<4, 256>>>(m, 1);
  cudaDeviceSynchronize();
  for (int i = 0; i < 1024; i++) printf("%f\n", m[i]);
}
