// expect: pairAt race=race divergence=proved
// expect: pairAt finding race/global error on a lines 12
// expect: pairAt launch main.cu:16 block=256 grid=4
// expect: pairAt launch main.cu:16 permits s=0
// expect: pairAt launch main.cu:16 permits s=7
// expect: pairAt launch main.cu:16 excludes s=8
//
// The first iteration of the host loop passes a distance of 0, with which all threads access the first element.

__global__ void pairAt(float* a, int s, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (2 * s * i + s < n) a[2 * s * i] += a[2 * s * i + s];
}

void run(float* a, int n) {
  for (int s = 0; s < 8; s++) pairAt<<<4, 256>>>(a, s, 2048);
}
