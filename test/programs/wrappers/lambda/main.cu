// expect: scaleChunk race=proved divergence=proved
// expect: scaleChunk silent
// expect: scaleChunk launch main.cu:14 block=256 grid=16
// expect: halveChunk race=race divergence=proved
// expect: halveChunk finding race/global error on a lines 10
// expect: halveChunk launch main.cu:14 block=512 grid=16

__global__ void scaleChunk(float* a) { a[blockIdx.x * 256 + threadIdx.x] *= 2.0f; }

__global__ void halveChunk(float* a) { a[blockIdx.x * 256 + threadIdx.x] *= 0.5f; }

void run(float* a) {
  auto launch = [&](void (*kernel)(float*), int threads) {
    kernel<<<16, threads>>>(a);
  };
  launch(scaleChunk, 256);
  launch(halveChunk, 512);
}

