// expect: scaleChunk race=proved divergence=proved
// expect: scaleChunk silent
// expect: scaleChunk launch main.cu:17 block=256 grid=16
// expect: halveChunk race=race divergence=proved
// expect: halveChunk finding race/global error on a lines 13
// expect: halveChunk launch main.cu:19 block=512 grid=16
// expect: addChunk race=proved divergence=proved
// expect: addChunk silent
// expect: addChunk launch main.cu:22 block=256 grid=32

__global__ void scaleChunk(float* a) { a[blockIdx.x * 256 + threadIdx.x] *= 2.0f; }

__global__ void halveChunk(float* a) { a[blockIdx.x * 256 + threadIdx.x] *= 0.5f; }
__global__ void addChunk(float* a) { a[blockIdx.x * 256 + threadIdx.x] += 1.0f; }
void run(float* a) {
  void (*kernel)(float*) = scaleChunk;
  kernel<<<16, 256>>>(a);
  auto other = &halveChunk;
  other<<<16, 512>>>(a);
  void (*later)(float*);
  later = &addChunk;
  later<<<32, 256>>>(a);
}
