// expect: spread race=proved divergence=proved
// expect: spread silent
// expect: spread launch a/main.cu:13 block=256 grid=8 args n=2048

__global__ void spread(float* a, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) a[(i % 32) * 64 + i / 32] *= 2.0f;
}

int main() {
  float* a;
  cudaMalloc(&a, 2048 * sizeof(float));
  spread<<<8, 256>>>(a, 2048);
  return cudaDeviceSynchronize();
}

