// expect: scaleChunk race=proved divergence=proved
// expect: scaleChunk silent
// expect: scaleChunk launch main.cu:16 block=256 grid=16
// expect: halveChunk race=race divergence=proved
// expect: halveChunk finding race/global error on a lines 12
// expect: halveChunk launch main.cu:23 block=512 grid=16
//
// The host is compiled without __CUDA_ARCH__, so it has only one of the branches.

__global__ void scaleChunk(float* a) { a[blockIdx.x * 256 + threadIdx.x] *= 2.0f; }

__global__ void halveChunk(float* a) { a[blockIdx.x * 256 + threadIdx.x] *= 0.5f; }

void run(float* a) {
#ifndef __CUDA_ARCH__
  scaleChunk<<<16, 256>>>(a);
#else
  scaleChunk<<<16, 512>>>(a);
#endif
#ifdef __CUDA_ARCH__
  halveChunk<<<16, 256>>>(a);
#else
  halveChunk<<<16, 512>>>(a);
#endif
}

