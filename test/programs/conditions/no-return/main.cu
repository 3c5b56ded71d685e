// expect: sumBlocks race=possible divergence=divergent
// expect: sumBlocks finding barrier/divergent error lines 12
// expect: sumBlocks launch main.cu:21 block=256 grid=4 where n=1000
//
// The last block is not full, and some of its threads skip the barrier.

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

bool run(float* out, float* sums, const float* in, int n) {
  if (n <= 0) return false;
  sumBlocks<<<(n + 255) / 256, 256>>>(out, sums, in, n);
  return true;
}

