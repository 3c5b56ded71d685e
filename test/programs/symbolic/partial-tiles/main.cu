// expect: scaleImage race=race divergence=proved
// expect: scaleImage finding race/global error on image lines 9
// expect: scaleImage launch main.cu:15 block=16,16 grid=63,38 args w=1000,h=600
//
// The width of the caller is not a multiple of 16, so the last tile of a row reaches into the next row.

__global__ void scaleImage(float* image, int w, int h) {
  int x = blockIdx.x * 16 + threadIdx.x, y = blockIdx.y * 16 + threadIdx.y;
  image[y * w + x] *= 2.0f;
}

void run(float* image, int w, int h) {
  dim3 block(16, 16);
  dim3 grid((w + block.x - 1) / block.x, (h + block.y - 1) / block.y);
  scaleImage<<<grid, block>>>(image, w, h);
}

int main() {
  float* image;
  cudaMalloc(&image, 1008 * 608 * sizeof(float));
  run(image, 1000, 600);
  return cudaDeviceSynchronize();
}
