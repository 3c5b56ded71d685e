// expect: scaleChunk race=proved divergence=proved
// expect: scaleChunk silent
// expect: scaleChunk launch main.cpp:37 block=256 grid=4 where n=1000
// expect: clampChunk race=race divergence=proved
// expect: clampChunk finding race/global error on a lines 15
// expect: clampChunk launch main.cpp:38 block=256 grid=4 where n=1000

extern "C" __global__ void scaleChunk(float* a, int n) {
  int i = blockIdx.x * 256 + threadIdx.x;
  if (i < n) a[i] *= 2.0f;
}

extern "C" __global__ void clampChunk(float* a, int n) {
  int i = min(blockIdx.x * 256 + threadIdx.x, n - 1);
  a[i] *= 2.0f;
}

