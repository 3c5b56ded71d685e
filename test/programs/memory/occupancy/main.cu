// expect: addAll race=proved divergence=proved
// expect: addAll silent
// expect: addAll launch main.cu:29 permits blockDim.x=256,gridDim.x=4,n=1000
// expect: addAll launch main.cu:29 excludes blockDim.x=256,gridDim.x=3,n=1000
// expect: addAll launch main.cu:29 excludes blockDim.x=100,gridDim.x=10,n=1000
// expect: firstWarp race=race divergence=proved
// expect: firstWarp finding race/shared error on s lines 20,22
// expect: firstWarp launch main.cu:31 permits blockDim.x=256
//
// The block of the occupancy API is any multiple of a warp, and more than one.

__global__ void addAll(float* a, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) a[i] += 1.0f;
}

__global__ void firstWarp(float* out, const float* in) {
  __shared__ float s[1024];
  int t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
  s[t] = in[i];
  __syncwarp();
  out[i] = s[blockDim.x - 1 - t];
}

void run(float* a, const float* b, int n) {
  int least, threads;
  cudaOccupancyMaxPotentialBlockSize(&least, &threads, addAll, 0, 0);
  int blocks = (n + threads - 1) / threads;
  addAll<<<blocks, threads>>>(a, n);
  cudaOccupancyMaxPotentialBlockSize(&least, &threads, firstWarp, 0, 0);
  firstWarp<<<least, threads>>>(a, b);
}
