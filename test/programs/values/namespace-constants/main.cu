// expect: scaleChunk race=proved divergence=proved
// expect: scaleChunk silent
// expect: scaleChunk launch main.cu:15 block=256 grid=16
// expect: halveChunk race=race divergence=proved
// expect: halveChunk finding race/global error on a lines 12
// expect: halveChunk launch main.cu:17 block=512 grid=16

#include "config.h"

__global__ void scaleChunk(float* a) { a[blockIdx.x * 256 + threadIdx.x] *= 2.0f; }

__global__ void halveChunk(float* a) { a[blockIdx.x * 256 + threadIdx.x] *= 0.5f; }

void run(float* a) {
  scaleChunk<<<config::blocks, config::threads>>>(a);
  using namespace config;
  halveChunk<<<blocks, Shape::wide>>>(a);
}

