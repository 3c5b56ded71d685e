// expect: sumBlocks race=proved divergence=proved
// expect: sumBlocks silent
// expect: sumBlocks launch main.cu:22 block=256 grid=4 where n=1024
// expect: sumBlocks launch main.cu:22 excludes gridDim.x=3,n=1000
//
// The host returns unless all blocks are full, so that all threads reach the barrier in the guard.

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
  if (n <= 0 || n % 256 != 0) return false;
  sumBlocks<<<n / 256, 256>>>(out, sums, in, n);
  return true;
}

