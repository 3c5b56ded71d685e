// expect: p race=proved divergence=proved
// expect: p finding ordering/streams error lines 60
// expect: p finding ordering/host error lines 75
// expect: p finding ordering/host error lines 76
// expect: p finding ordering/streams error lines 114
// expect: p finding ordering/host error lines 144
// expect: p finding ordering/host error lines 161
// expect: p finding ordering/host error lines 178
// expect: p finding ordering/streams error lines 195
// expect: c race=proved divergence=proved
// expect: c finding ordering/streams error lines 91
// expect: c finding ordering/streams error lines 195
// expect: addTo race=proved divergence=proved
// expect: toPartial race=proved divergence=proved
// expect: toPartial finding ordering/streams error lines 132
// expect: fromPartial race=proved divergence=proved
// expect: fromPartial finding ordering/streams error lines 133
//
// Pipelines of which each function lacks one wait.
#include <cuda_runtime.h>
#include <utility>
#include <vector>

__device__ float partial[1024];
__constant__ float coefficients[16];

__global__ void p(float* x) { x[blockIdx.x * blockDim.x + threadIdx.x] = 1; }

__global__ void c(float* y, const float* x) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  y[i] = x[i];
}

__global__ void addTo(float* y, const float* x) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  y[i] += x[i];
}

__global__ void toPartial(const float* x) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  partial[i] = x[i];
}

__global__ void fromPartial(float* y) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  y[i] = partial[i] * coefficients[i & 15];
}

void freed(int n) {
  cudaStream_t s, t;
  cudaStreamCreate(&s);
  cudaStreamCreate(&t);
  cudaEvent_t e;
  cudaEventCreate(&e);
  for (int i = 0; i < n; i++) {
    float* d;
    cudaMallocAsync(&d, 4096, s);
    p<<<4, 256, 0, s>>>(d);
    cudaEventRecord(e, s);
    cudaFreeAsync(d, t);
  }
}

void converge(float tolerance) {
  float *d, *h;
  cudaMalloc(&d, 4096);
  cudaMallocHost(&h, 4096);
  cudaStream_t s, t;
  cudaStreamCreate(&s);
  cudaStreamCreate(&t);
  bool isDone = false;
  while (!isDone) {
    p<<<4, 256, 0, s>>>(d);
    cudaMemcpyAsync(h, d, 4096, cudaMemcpyDeviceToHost, s);
    isDone = h[0] < tolerance;
    h[1] = 0;
  }
}

void pingPongTwo(int n) {
  float *a, *b;
  cudaMalloc(&a, 4096);
  cudaMalloc(&b, 4096);
  cudaStream_t s, t;
  cudaStreamCreate(&s);
  cudaStreamCreate(&t);
  cudaEvent_t e, f;
  cudaEventCreate(&e);
  cudaEventCreate(&f);
  for (int i = 0; i < n; i++) {
    c<<<4, 256, 0, s>>>(a, b);
    cudaEventRecord(e, s);
    cudaStreamWaitEvent(t, e, 0);
    c<<<4, 256, 0, t>>>(b, a);
    cudaEventRecord(f, t);
  }
}

void previous(int n) {
  float *d;
  cudaMalloc(&d, 8192);
  float *y;
  cudaMalloc(&y, 4096);
  cudaStream_t s, t;
  cudaStreamCreate(&s);
  cudaStreamCreate(&t);
  cudaEvent_t made[2], used[2];
  for (int i = 0; i < 2; i++) {
    cudaEventCreate(&made[i]);
    cudaEventCreate(&used[i]);
  }
  for (int i = 0; i < n; i++) {
    int k = i % 2;
    p<<<4, 256, 0, s>>>(d + k * 1024);
    cudaEventRecord(made[k], s);
    cudaStreamWaitEvent(t, made[k], 0);
    addTo<<<4, 256, 0, t>>>(y, d + k * 1024);
    cudaEventRecord(used[k], t);
  }
}

void variables(int n) {
  float *x, *y;
  cudaMalloc(&x, 4096);
  cudaMalloc(&y, 4096);
  cudaStream_t s, t;
  cudaStreamCreate(&s);
  cudaStreamCreate(&t);
  float h[16] = {};
  cudaMemcpyToSymbolAsync(coefficients, h, 64, 0, cudaMemcpyHostToDevice, s);
  for (int i = 0; i < n; i++) {
    toPartial<<<4, 256, 0, s>>>(x);
    fromPartial<<<4, 256, 0, t>>>(y);
  }
}

void registered(int n) {
  float* h = (float*)malloc(4096);
  cudaHostRegister(h, 4096, 0);
  cudaStream_t s, t;
  cudaStreamCreate(&s);
  cudaStreamCreate(&t);
  for (int i = 0; i < n; i++) {
    for (int j = 0; j < 1024; j++) h[j] = j;
    p<<<4, 256, 0, s>>>(h);
  }
  cudaHostUnregister(h);
  free(h);
}

void staged(const float* in, int n) {
  float *h[2], *d[2];
  cudaStream_t s[2];
  for (int i = 0; i < 2; i++) {
    cudaMallocHost(&h[i], 4096);
    cudaMalloc(&d[i], 4096);
    cudaStreamCreate(&s[i]);
  }
  for (int i = 0; i < n; i++) {
    int k = i & 1;
    for (int j = 0; j < 1024; j++) h[k][j] = in[i * 1024 + j];
    cudaMemcpyAsync(d[k], h[k], 4096, cudaMemcpyHostToDevice, s[k]);
    p<<<4, 256, 0, s[k]>>>(d[k]);
  }
}

void polled(int n) {
  float *h;
  cudaMallocHost(&h, 4096);
  cudaStream_t s, t;
  cudaStreamCreate(&s);
  cudaStreamCreate(&t);
  cudaEvent_t e;
  cudaEventCreate(&e);
  for (int i = 0; i < n; i++) {
    p<<<4, 256, 0, s>>>(h);
    cudaEventRecord(e, s);
    h[0] = 0;
  }
}

void joinAtEnd(int n) {
  float *d, *y;
  cudaMalloc(&d, 4096);
  cudaMalloc(&y, 8192);
  cudaStream_t s, t, u;
  cudaStreamCreate(&s);
  cudaStreamCreate(&t);
  cudaStreamCreate(&u);
  cudaEvent_t e, f, g;
  cudaEventCreate(&e);
  cudaEventCreate(&f);
  cudaEventCreate(&g);
  for (int i = 0; i < n; i++) {
    p<<<4, 256, 0, s>>>(d);
    cudaEventRecord(e, s);
    cudaStreamWaitEvent(t, e, 0);
    cudaStreamWaitEvent(u, e, 0);
    c<<<4, 256, 0, t>>>(y, d);
    c<<<4, 256, 0, u>>>(y + 1024, d);
    cudaEventRecord(f, t);
    cudaEventRecord(g, u);
    cudaStreamWaitEvent(s, f, 0);
  }
}
