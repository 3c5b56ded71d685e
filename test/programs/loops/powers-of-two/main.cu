// expect: foldPairs race=proved divergence=proved
// expect: foldPairs silent
// expect: foldPairs launch main.cu:24 block=256 grid=64
// expect: foldPairs launch main.cu:24 permits m=8
// expect: foldPairs launch main.cu:24 excludes m=6
// expect: foldAll race=race divergence=proved
// expect: foldAll finding race/global error on a lines 20
// expect: foldAll launch main.cu:25 block=256 grid=64
// expect: foldAll launch main.cu:25 permits m=3
//
// Every m-th element takes the one in the middle. That a mask finds these takes powers of two.

__global__ void foldPairs(float* a, int m) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if ((i & (m - 1)) == 0) a[i] += a[i + m / 2];
}

__global__ void foldAll(float* a, int m) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if ((i & (m - 1)) == 0) a[i] += a[i + m / 2];
}

void run(float* a) {
  for (int m = 2; m <= 1024; m <<= 1) foldPairs<<<64, 256>>>(a, m);
  for (int m = 2; m <= 64; m++) foldAll<<<64, 256>>>(a, m);
}
