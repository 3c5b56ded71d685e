// expect: legacy::scaleChunk race=proved divergence=proved
// expect: legacy::scaleChunk silent
// expect: legacy::scaleChunk launch legacy.cu:8 block=1024 grid=2

namespace legacy {
__global__ void scaleChunk(float* a) { a[blockIdx.x * 1024 + threadIdx.x] *= 2.0f; }

void run(float* a) { scaleChunk<<<2, 1024>>>(a); }
}  // namespace legacy
