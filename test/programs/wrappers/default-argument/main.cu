// expect: scaleChunk race=proved divergence=proved
// expect: scaleChunk silent
// expect: scaleChunk launch main.cu:12 block=256 grid=16
// expect: halveChunk race=race divergence=proved
// expect: halveChunk finding race/global error on a lines 10
// expect: halveChunk launch main.cu:13 block=512 grid=16

__global__ void scaleChunk(float* a) { a[blockIdx.x * 256 + threadIdx.x] *= 2.0f; }

__global__ void halveChunk(float* a) { a[blockIdx.x * 256 + threadIdx.x] *= 0.5f; }

static void scale(float* a, int threads = 256) { scaleChunk<<<16, threads>>>(a); }
static void halve(float* a, int threads = 512) { halveChunk<<<16, threads>>>(a); }

void run(float* a) {
  scale(a);
  halve(a);
}

