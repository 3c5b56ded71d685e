// expect: sumBlocks race=possible divergence=divergent
// expect: sumBlocks finding barrier/divergent error lines 13
// expect: sumBlocks launch main.cu:21 block=256 grid=4 args n=1024
// expect: sumBlocks launch main.cu:22 block=256 grid=4 args n=1000
//
// The kernel needs full blocks, which the arguments of the second launch do not ensure.

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

void run(float* out, float* sums, const float* in) {
  sumBlocks<<<1024 / 256, 256>>>(out, sums, in, 1024);
  sumBlocks<<<4, 256>>>(out, sums, in, 1000);
}
