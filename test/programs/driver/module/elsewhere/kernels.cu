// expect: scaleChunk race=proved divergence=proved
// expect: scaleChunk silent
// expect: scaleChunk precondition "blockDim.x <= 64"
//
// No host of this folder launches it, and that of the other one loads another file.

extern "C" __global__ void scaleChunk(float* a) { a[blockIdx.x * 64 + threadIdx.x] *= 2.0f; }
