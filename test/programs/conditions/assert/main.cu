// expect: sumBlocks race=proved divergence=proved
// expect: sumBlocks silent
// expect: sumBlocks launch main.cu:25 block=256 grid=4 where n=1024
// expect: sumBlocks launch main.cu:25 excludes gridDim.x=3,n=1000
//
// The program ends if the assertion is false.

#include <cassert>

__global__ void sumBlocks(float* out, float* sums, const float* in, int n) {
  __shared__ float s[256];
  int t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
  if (i < n) {
    s[t] = in[i];
    __syncthreads();
    out[i] = t > 0 ? s[t - 1] : 0.0f;
  }
  __syncthreads();
  if (t == 0) sums[blockIdx.x] = s[255];
}

void run(float* out, float* sums, const float* in, int n) {
  assert(n > 0);
  assert(n % 256 == 0);
  sumBlocks<<<n / 256, 256>>>(out, sums, in, n);
}

