// expect: scale race=proved divergence=proved
// expect: scale finding ordering/streams error lines 26
//
// Ranges of one array at offsets that the caller keeps separate, and at one offset with different lengths.
#include <cuda_runtime.h>

__global__ void scale(float* x, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) x[i] *= 2;
}

void offsets(float* x, size_t first, size_t second, int n) {
  cudaStream_t s, t;
  cudaStreamCreate(&s);
  cudaStreamCreate(&t);
  scale<<<(n + 255) / 256, 256, 0, s>>>(x + first, n);
  scale<<<(n + 255) / 256, 256, 0, t>>>(x + second, n);
}

void sameOffset(float* x, size_t first, int n, int m) {
  if (n < 1 || m < 1) return;
  cudaStream_t s, t;
  cudaStreamCreate(&s);
  cudaStreamCreate(&t);
  scale<<<(n + 255) / 256, 256, 0, s>>>(x + first, n);
  scale<<<(m + 255) / 256, 256, 0, t>>>(x + first, m);
}

void rest(float* x, int n) {
  float* h;
  cudaStream_t s;
  cudaStreamCreate(&s);
  cudaMallocHost(&h, n * sizeof(float));
  cudaMemcpyAsync(x, h, (n / 2) * sizeof(float), cudaMemcpyHostToDevice, s);
  for (int i = n / 2; i < n; i++) h[i] *= 3;
  scale<<<(n + 255) / 256, 256, 0, s>>>(x, n);
  cudaStreamSynchronize(s);
}

void rows(float* x, int n, int row, int next) {
  float* h;
  cudaStream_t s;
  cudaStreamCreate(&s);
  cudaMallocHost(&h, 16 * n * sizeof(float));
  cudaMemcpyAsync(x, h + row * n, n * sizeof(float), cudaMemcpyHostToDevice, s);
  h[next * n] = 1;
  scale<<<(n + 255) / 256, 256, 0, s>>>(x, n);
  cudaStreamSynchronize(s);
}
