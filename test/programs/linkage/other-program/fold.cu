// expect: fold race=race divergence=proved
// expect: fold finding race/shared error on s lines 13
// expect: fold launch fold.cu:18 block=256 grid=4 where n=1000
//
// Its only launch has eight warps for 32 slots. The kernel of the same name in tools/ has one warp, and is
// another one.

#include "block.h"

__global__ void fold(float* out, const float* in, int n) {
  __shared__ float s[32];
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  s[threadIdx.x % 32] = i < n ? in[i] : 0.0f;
  __syncthreads();
  if (i < n) out[i] = s[31 - threadIdx.x % 32];
}

void run(float* out, const float* in, int n) { fold<<<(n + BLOCK - 1) / BLOCK, BLOCK>>>(out, in, n); }
