// expect: reversed<128> race=proved divergence=proved
// expect: reversed<128> silent
// expect: reversed<128> launch main.cu:22 block=128 grid=4 where n=500
// expect: reversed<32> race=proved divergence=proved
// expect: reversed<32> silent
// expect: reversed<32> launch main.cu:24 block=32
//
// The conditions determine the block.

template <int Threads> __global__ void reversed(float* out, const float* in, int n) {
  __shared__ float s[Threads];
  int t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
  s[t] = i < n ? in[i] : 0.0f;
  if (Threads > 32) __syncthreads();
  else __syncwarp();
  if (i < n) out[i] = s[Threads - 1 - t];
}

void run(float* out, const float* in, int n, int threads) {
  int blocks = (n + threads - 1) / threads;
  if (threads == 128) {
    reversed<128><<<blocks, threads>>>(out, in, n);
  } else if (threads == 32) {
    reversed<32><<<blocks, threads>>>(out, in, n);
  }
}

