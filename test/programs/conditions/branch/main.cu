// expect: pairUp race=proved divergence=proved
// expect: pairUp silent
// expect: pairUp launch main.cu:30 block=32 grid=1
// expect: pairUp launch main.cu:30 excludes gridDim.x=1,n=33
// expect: pairUpWide race=race divergence=proved
// expect: pairUpWide finding race/shared error on s lines 23,25
// expect: pairUpWide launch main.cu:32 block=64 grid=1
// expect: pairUpWide launch main.cu:32 excludes gridDim.x=1,n=32
//
// Few elements take one warp, many take two.

__global__ void pairUp(float* a, int n) {
  __shared__ float s[64];
  int t = threadIdx.x;
  s[t] = t < n ? a[t] : 0.0f;
  __syncwarp();
  if (t < n) a[t] = s[t ^ 1] + s[n - 1 - t];
}

__global__ void pairUpWide(float* a, int n) {
  __shared__ float s[64];
  int t = threadIdx.x;
  s[t] = t < n ? a[t] : 0.0f;
  __syncwarp();
  if (t < n) a[t] = s[63 - t];
}

void run(float* a, int n) {
  if (n > 0 && n <= 32)
    pairUp<<<1, 32>>>(a, n);
  else if (n <= 64)
    pairUpWide<<<1, 64>>>(a, n);
}

