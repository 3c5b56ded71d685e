// expect: addRows race=proved divergence=proved
// expect: addRows silent
// expect: addRows launch main.cu:31 block=256 grid=1,30 where w=100,h=30
// expect: turnRows race=race divergence=proved
// expect: turnRows finding race/global error on a lines 20
// expect: turnRows launch main.cu:32 block=256 grid=1,30 where w=100,h=30
//
// Width and height are read from a file.

#include <cstdio>

__global__ void addRows(float* a, int w, int h) {
  int x = blockIdx.x * blockDim.x + threadIdx.x;
  if (x < w) a[blockIdx.y * w + x] += 1.0f;
}

// Each thread takes the element that another one changes.
__global__ void turnRows(float* a, int w, int h) {
  int x = blockIdx.x * blockDim.x + threadIdx.x;
  if (x < w) a[blockIdx.y * w + x] = a[blockIdx.y * w + w - 1 - x];
}

int main() {
  int w = 0, h = 0;
  FILE* file = fopen("size.txt", "r");
  if (!file || fscanf(file, "%d %d", &w, &h) != 2) return 1;
  fclose(file);
  float* a;
  cudaMalloc(&a, sizeof(float) * w * h);
  dim3 grid((w + 255) / 256, h);
  addRows<<<grid, 256>>>(a, w, h);
  turnRows<<<grid, 256>>>(a, w, h);
  return cudaDeviceSynchronize();
}
