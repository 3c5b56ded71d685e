// expect: blockSum<512> race=proved divergence=proved
// expect: blockSum<512> silent
// expect: blockSum<512> launch main.cu:27 block=512
// expect: blockSum<256> race=proved divergence=proved
// expect: blockSum<256> silent
// expect: blockSum<256> launch main.cu:28 block=256
// expect: blockSum<64> race=proved divergence=proved
// expect: blockSum<64> silent
// expect: blockSum<64> launch main.cu:29 block=64
//
// Each case relates the block to its instance.

template <int Threads> __global__ void blockSum(float* out, const float* in, int n) {
  __shared__ float s[Threads];
  int t = threadIdx.x, i = blockIdx.x * Threads + t;
  s[t] = i < n ? in[i] : 0.0f;
  __syncthreads();
  for (int d = Threads / 2; d > 0; d /= 2) {
    if (t < d) s[t] += s[t + d];
    __syncthreads();
  }
  if (t == 0) out[blockIdx.x] = s[0];
}

void run(float* out, const float* in, int n, int threads, int blocks) {
  switch (threads) {
    case 512: blockSum<512><<<blocks, threads>>>(out, in, n); break;
    case 256: blockSum<256><<<blocks, threads>>>(out, in, n); break;
    case 64: blockSum<64><<<blocks, threads>>>(out, in, n); break;
  }
}

