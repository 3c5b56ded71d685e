// expect: scaleChunk race=proved divergence=proved
// expect: scaleChunk silent
// expect: scaleChunk launch main.cu:14 block=256 grid=16
// expect: halveChunk race=race divergence=proved
// expect: halveChunk finding race/global error on a lines 10
// expect: halveChunk launch main.cu:14 block=256 grid=16

__global__ void scaleChunk(float* a) { a[blockIdx.x * 256 + threadIdx.x] *= 2.0f; }

__global__ void halveChunk(float* a) { a[blockIdx.x * 128 + threadIdx.x] *= 0.5f; }

void run(float* a, bool isDoubled) {
  auto kernel = isDoubled ? scaleChunk : halveChunk;
  kernel<<<16, 256>>>(a);
}

