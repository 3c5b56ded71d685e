// expect: scaleChunk race=proved divergence=proved
// expect: scaleChunk silent
// expect: scaleChunk launch main.cu:18 block=256 grid=16
// expect: halveChunk race=race divergence=proved
// expect: halveChunk finding race/global error on a lines 12
// expect: halveChunk launch main.cu:18 block=256 grid=16
//
// All kernels of the table have one launch, and one of them has chunks of half its block.

__global__ void scaleChunk(float* a) { a[blockIdx.x * 256 + threadIdx.x] *= 2.0f; }

__global__ void halveChunk(float* a) { a[blockIdx.x * 128 + threadIdx.x] *= 0.5f; }

using Kernel = void (*)(float*);
static const Kernel kernels[] = {scaleChunk, halveChunk};

void run(float* a) {
  for (int k = 0; k < 2; k++) kernels[k]<<<16, 256>>>(a);
}

