// expect: scaleChunk race=proved divergence=proved
// expect: scaleChunk silent
// expect: scaleChunk launch main.cu:18 block=256 grid=16
// expect: halveChunk race=race divergence=proved
// expect: halveChunk finding race/global error on a lines 15
// expect: halveChunk launch main.cu:19 block=512 grid=16
//
// Expansions of macros of system headers belong to the file of the user.

#include <cassert>
#include <cstddef>

__global__ void scaleChunk(float* a) { a[blockIdx.x * 256 + threadIdx.x] *= 2.0f; }

__global__ void halveChunk(float* a) { a[blockIdx.x * 256 + threadIdx.x] *= 0.5f; }

void run(float* a) {
  assert(a != NULL); scaleChunk<<<16, 256, 0, NULL>>>(a);
  halveChunk<<<16, 512, 0, NULL>>>(a); assert(cudaGetLastError() == cudaSuccess);
}
