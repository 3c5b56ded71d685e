// expect: scaleChunk race=proved divergence=proved
// expect: scaleChunk silent
// expect: scaleChunk launch main.cu:15 block=256 grid=16
// expect: scaleChunk launch main.cu:15 block=128 grid=16
// expect: halveChunk race=race divergence=proved
// expect: halveChunk finding race/global error on a lines 13
// expect: halveChunk launch main.cu:16 block=512 grid=16
//
// Each call of a function that launches is a launch.

__global__ void scaleChunk(float* a) { a[blockIdx.x * 256 + threadIdx.x] *= 2.0f; }

__global__ void halveChunk(float* a) { a[blockIdx.x * 256 + threadIdx.x] *= 0.5f; }

static void scale(float* a, int threads) { scaleChunk<<<16, threads>>>(a); }
static void halve(float* a, int threads) { halveChunk<<<16, threads>>>(a); }
static void halveTwice(float* a, int threads) { halve(a, 2 * threads); }

void run(float* a) {
  scale(a, 256);
  scale(a, 128);
  halveTwice(a, 256);
}

