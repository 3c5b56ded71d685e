// expect: turnBlock race=proved divergence=proved
// expect: turnBlock silent
// expect: turnBlock launch main.cu:32 block=64
// expect: turnBlock launch main.cu:32 block=128
// expect: turnBlock launch main.cu:32 block=256
// expect: turnBlockWide race=possible divergence=proved
// expect: turnBlockWide finding memory/out-of-bounds error on s lines 25
// expect: turnBlockWide launch main.cu:33 permits blockDim.x=32
// expect: turnBlockWide launch main.cu:33 permits blockDim.x=512
// expect: turnBlockWide launch main.cu:33 excludes blockDim.x=48
//
// The blocks of the first loop fit the array, the last one of the second loop does not.

__global__ void turnBlock(float* a) {
  __shared__ float s[256];
  int t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
  s[t] = a[i];
  __syncthreads();
  a[i] = s[blockDim.x - 1 - t];
}

__global__ void turnBlockWide(float* a) {
  __shared__ float s[256];
  int t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
  s[t] = a[i];
  __syncthreads();
  a[i] = s[blockDim.x - 1 - t];
}

void run(float* a) {
  const int sizes[] = {64, 128, 256};
  for (int threads : sizes) turnBlock<<<16, threads>>>(a);
  for (int threads = 32; threads <= 512; threads *= 2) turnBlockWide<<<16, threads>>>(a);
}
