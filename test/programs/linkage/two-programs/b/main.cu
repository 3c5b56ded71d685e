// expect: spread race=race divergence=proved
// expect: spread finding race/global error on a lines 9
// expect: spread launch b/main.cu:15 block=128 grid=32 args n=4096
//
// With twice the elements the rows of 64 are too short.

__global__ void spread(float* a, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) a[(i % 32) * 64 + i / 32] *= 2.0f;
}

int main() {
  float* a;
  cudaMalloc(&a, 4096 * sizeof(float));
  spread<<<32, 128>>>(a, 4096);
  return cudaDeviceSynchronize();
}
