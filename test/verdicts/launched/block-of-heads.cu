// expect: swapHeads race=race divergence=proved
// expect: swapHeads launch block-of-heads.cu:27
// expect: swapHeads finding race/shared error on rows lines 14,15
// expect: halves<true> race=race divergence=proved
// expect: halves<true> launch block-of-heads.cu:29
// expect: halves<true> finding race/shared error on part lines 21,22
// Blocks whose extents the host program computes from scalars: runs satisfy its equations, with several heads, and also
// for a scalar that the kernel does not read.

__global__ void swapHeads(float *out, const float *in, int hidden, int heads) {
  __shared__ float rows[1024];
  const int next = (threadIdx.y + 1) % blockDim.y;
  const long long at = (long long)blockIdx.x * hidden + threadIdx.y * (hidden / heads) + threadIdx.x;
  rows[threadIdx.y * blockDim.x + threadIdx.x] = in[at];
  if (heads > 2 && hidden > 100) out[at] = rows[next * blockDim.x + threadIdx.x];
}

template <bool isFull>
__global__ void halves(float *out, const float *in, int n) {
  __shared__ float part[2048];
  part[threadIdx.x] = in[blockIdx.x * blockDim.x + threadIdx.x];
  if (isFull || threadIdx.x < n / 2) out[blockIdx.x * blockDim.x + threadIdx.x] = part[threadIdx.x ^ 1];
}

void launches(float *out, float *in, int hidden, int heads, int n, int blocks) {
  const dim3 block(hidden / heads, heads);
  swapHeads<<<blocks, block>>>(out, in, hidden, heads);
  if (n > 2048) n = 2048;
  halves<true><<<blocks, n / 2>>>(out, in, n);
}
