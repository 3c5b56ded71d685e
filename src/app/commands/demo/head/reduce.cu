// One sum of absolute values for each block.
// selvage: block=256 grid=64 arg(n=16000)
__global__ void reduce(const float* in, float* sums, int n) {
  __shared__ float partial[256];
  int t = threadIdx.x;
  int i = blockIdx.x * blockDim.x + t;
  partial[t] = i < n ? fabsf(in[i]) : 0.0f;
  for (int step = blockDim.x / 2; step > 0; step /= 2) {
    if (t < step) partial[t] += partial[t + step];
    __syncthreads();
  }
  if (t == 0) sums[blockIdx.x] = partial[0];
}
