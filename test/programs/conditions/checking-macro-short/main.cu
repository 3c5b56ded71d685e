// expect: sumBlocks race=possible divergence=divergent
// expect: sumBlocks finding barrier/divergent error lines 17
// expect: sumBlocks launch main.cu:26 block=256 grid=4 where n=1008
// expect: sumBlocks launch main.cu:26 excludes gridDim.x=4,n=1000
//
// The macro requires only full half-warps.

#include <cstdlib>

#define REQUIRE(condition) ((condition) ? (void)0 : abort())

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
  REQUIRE(n % 16 == 0);
  sumBlocks<<<(n + 255) / 256, 256>>>(out, sums, in, n);
}

