// expect: blockSum<512> race=possible divergence=proved
// expect: blockSum<512> finding memory/out-of-bounds error on s lines 13
// expect: blockSum<512> launch main.cu:24 block=1024
// expect: blockSum<256> race=proved divergence=proved
// expect: blockSum<256> silent
// expect: blockSum<256> launch main.cu:25 block=256
//
// The first case has the instance of half its block.

template <int Threads> __global__ void blockSum(float* out, const float* in) {
  __shared__ float s[Threads];
  int t = threadIdx.x;
  s[t] = in[blockIdx.x * blockDim.x + t];
  __syncthreads();
  for (int d = Threads / 2; d > 0; d /= 2) {
    if (t < d) s[t] += s[t + d];
    __syncthreads();
  }
  if (t == 0) out[blockIdx.x] = s[0];
}

void run(float* out, const float* in, int threads, int blocks) {
  switch (threads) {
    case 1024: blockSum<512><<<blocks, threads>>>(out, in); break;
    case 256: blockSum<256><<<blocks, threads>>>(out, in); break;
  }
}

