// expect: oneWarp race=race divergence=proved
// expect: oneWarp finding race/shared error on s lines 17,19
// expect: oneWarp launch main.cu:27 block=32 grid=16
// expect: oneWarp launch main.cu:28 grid=16
// expect: oneWarp launch main.cu:28 permits blockDim.x=128
// expect: scaleChunk race=proved divergence=proved
// expect: scaleChunk silent
// expect: scaleChunk precondition "blockDim.x <= 256"
// expect: scaleChunk launch main.cu:29 block=256 grid=16
// expect: scaleChunk launch main.cu:30 grid=16
//
// Of two launches of a kernel one leaves the block open. It counts all the same.

__global__ void oneWarp(float* out, const float* in) {
  __shared__ float s[1024];
  int t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
  s[t] = in[i];
  __syncwarp();
  out[i] = s[blockDim.x - 1 - t];
}

__global__ void scaleChunk(float* a) { a[blockIdx.x * 256 + threadIdx.x] *= 2.0f; }

int tunedThreads();

void run(float* a, const float* b) {
  oneWarp<<<16, 32>>>(a, b);
  oneWarp<<<16, tunedThreads()>>>(a, b);
  scaleChunk<<<16, 256>>>(a);
  scaleChunk<<<16, tunedThreads()>>>(a);
}
