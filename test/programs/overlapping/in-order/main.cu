// expect: p race=proved divergence=proved
// expect: p silent
// expect: c race=proved divergence=proved
// expect: c silent
// expect: addTo race=proved divergence=proved
// expect: addTo silent
// expect: toPartial race=proved divergence=proved
// expect: toPartial silent
// expect: fromPartial race=proved divergence=proved
// expect: fromPartial silent
//
// Pipelines of several streams, loops with an unknown number of iterations, memory that is freed and registered: all in order.
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

void ring(int n) {
  float *d;
  cudaMalloc(&d, 16384);
  cudaStream_t s[4];
  for (int i = 0; i < 4; i++) cudaStreamCreate(&s[i]);
  for (int i = 0; i < n; i++) {
    p<<<4, 256, 0, s[i % 4]>>>(d + (i % 4) * 1024);
  }
  cudaDeviceSynchronize();
}

void ringOfVector(int n) {
  float *d;
  cudaMalloc(&d, 16384);
  std::vector<cudaStream_t> s(4);
  for (auto& one : s) cudaStreamCreate(&one);
  for (int i = 0; i < n; i++) {
    p<<<4, 256, 0, s[i % 4]>>>(d + (i % 4) * 1024);
  }
  cudaDeviceSynchronize();
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
    cudaStreamWaitEvent(t, e, 0);
    cudaFreeAsync(d, t);
  }
}

void freedInOwn(int n) {
  cudaStream_t s;
  cudaStreamCreate(&s);
  for (int i = 0; i < n; i++) {
    float* d;
    cudaMallocAsync(&d, 4096, s);
    p<<<4, 256, 0, s>>>(d);
    cudaFreeAsync(d, s);
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
    cudaStreamSynchronize(s);
    isDone = h[0] < tolerance;
    h[1] = 0;
  }
}

void pingPong(int n) {
  float *a, *b;
  cudaMalloc(&a, 4096);
  cudaMalloc(&b, 4096);
  cudaStream_t s, t;
  cudaStreamCreate(&s);
  cudaStreamCreate(&t);
  for (int i = 0; i < n; i++) {
    c<<<4, 256, 0, s>>>(a, b);
    std::swap(a, b);
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
    if (i > 0) cudaStreamWaitEvent(s, f, 0);
    c<<<4, 256, 0, s>>>(a, b);
    cudaEventRecord(e, s);
    cudaStreamWaitEvent(t, e, 0);
    c<<<4, 256, 0, t>>>(b, a);
    cudaEventRecord(f, t);
  }
}

void halo(int n) {
  float *d, *o;
  cudaMalloc(&d, 16384);
  cudaMalloc(&o, 16384);
  cudaStream_t s, t, u;
  cudaStreamCreate(&s);
  cudaStreamCreate(&t);
  cudaStreamCreate(&u);
  for (int i = 0; i < n; i++) {
    c<<<1, 256, 0, s>>>(o, d);
    c<<<1, 256, 0, t>>>(o + 3840, d + 3840);
    c<<<14, 256, 0, u>>>(o + 256, d + 256);
    cudaDeviceSynchronize();
    std::swap(d, o);
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
    cudaStreamWaitEvent(s, used[k], 0);
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
    fromPartial<<<4, 256, 0, s>>>(y);
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
    cudaStreamSynchronize(s);
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
    cudaStreamSynchronize(s[k]);
    for (int j = 0; j < 1024; j++) h[k][j] = in[i * 1024 + j];
    cudaMemcpyAsync(d[k], h[k], 4096, cudaMemcpyHostToDevice, s[k]);
    p<<<4, 256, 0, s[k]>>>(d[k]);
  }
}

void chunks(float* out, int n) {
  float *h, *d;
  cudaMallocHost(&h, 1 << 20);
  cudaMalloc(&d, 1 << 20);
  cudaStream_t s[4];
  for (auto& one : s) cudaStreamCreate(&one);
  int chunk = n / 4;
  for (int i = 0; i < 4; i++) {
    cudaMemcpyAsync(d + i * chunk, h + i * chunk, chunk * 4, cudaMemcpyHostToDevice, s[i]);
    p<<<(chunk + 255) / 256, 256, 0, s[i]>>>(d + i * chunk);
    cudaMemcpyAsync(h + i * chunk, d + i * chunk, chunk * 4, cudaMemcpyDeviceToHost, s[i]);
  }
  cudaDeviceSynchronize();
  out[0] = h[0];
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
    while (cudaEventQuery(e) == cudaErrorNotReady) {
    }
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
    cudaStreamWaitEvent(s, g, 0);
  }
}
