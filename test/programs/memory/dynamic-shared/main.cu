// expect: turnBlock race=proved divergence=proved
// expect: turnBlock silent
// expect: turnBlock launch main.cu:28 block=256 grid=16 shared=1024
// expect: turnBlockShort race=possible divergence=proved
// expect: turnBlockShort finding memory/out-of-bounds error on s lines 21
// expect: turnBlockShort launch main.cu:29 block=256 grid=16 shared=256
//
// The second launch counts elements where bytes are meant.

__global__ void turnBlock(float* a) {
  extern __shared__ float s[];
  int t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
  s[t] = a[i];
  __syncthreads();
  a[i] = s[blockDim.x - 1 - t];
}

__global__ void turnBlockShort(float* a) {
  extern __shared__ float s[];
  int t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
  s[t] = a[i];
  __syncthreads();
  a[i] = s[blockDim.x - 1 - t];
}

void run(float* a) {
  const int threads = 256;
  turnBlock<<<16, threads, threads * sizeof(float)>>>(a);
  turnBlockShort<<<16, threads, threads>>>(a);
}
