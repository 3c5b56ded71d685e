// expect: scaleChunk race=proved divergence=proved
// expect: scaleChunk silent
// expect: scaleChunk launch main.cpp:17 block=256 grid=16
// expect: halveChunk race=race divergence=proved
// expect: halveChunk finding race/global error on a lines 12
// expect: halveChunk launch main.cpp:18 block=512 grid=16
//
// The host names the function and the file of its module.

extern "C" __global__ void scaleChunk(float* a) { a[blockIdx.x * 256 + threadIdx.x] *= 2.0f; }

extern "C" __global__ void halveChunk(float* a) { a[blockIdx.x * 256 + threadIdx.x] *= 0.5f; }
