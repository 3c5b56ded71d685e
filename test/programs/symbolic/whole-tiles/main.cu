// expect: scaleImage race=proved divergence=proved
// expect: scaleImage silent
// expect: scaleImage launch main.cu:15 block=16,16 grid=4,2 where w=64,h=32
//
// The grid covers only whole tiles, so no thread leaves its row.

__global__ void scaleImage(float* image, int w, int h) {
  int x = blockIdx.x * 16 + threadIdx.x, y = blockIdx.y * 16 + threadIdx.y;
  image[y * w + x] *= 2.0f;
}

void run(float* image, int w, int h) {
  dim3 block(16, 16);
  dim3 grid(w / block.x, h / block.y);
  scaleImage<<<grid, block>>>(image, w, h);
}

