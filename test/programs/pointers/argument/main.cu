// expect: scaleChunk race=proved divergence=proved
// expect: scaleChunk silent
// expect: scaleChunk launch main.cu:13 block=256 grid=16
// expect: halveChunk race=race divergence=proved
// expect: halveChunk finding race/global error on a lines 10
// expect: halveChunk launch main.cu:13 block=512 grid=16

__global__ void scaleChunk(float* a) { a[blockIdx.x * 256 + threadIdx.x] *= 2.0f; }

__global__ void halveChunk(float* a) { a[blockIdx.x * 256 + threadIdx.x] *= 0.5f; }

static void timed(void (*kernel)(float*), int threads, float* a) {
  for (int k = 0; k < 10; k++) kernel<<<16, threads>>>(a);
}

void run(float* a) {
  timed(scaleChunk, 256, a);
  timed(halveChunk, 512, a);
}

