// expect: addOne race=proved divergence=proved
// expect: addOne silent
// expect: addOne launch main.cu:21 block=256 grid=4 where n=1000
// expect: addOne launch main.cu:21 permits gridDim.x=4,n=1024
// expect: addOne launch main.cu:21 excludes gridDim.x=5,n=1024
// expect: addClamped race=race divergence=proved
// expect: addClamped finding race/global error on a lines 17
// expect: addClamped launch main.cu:23 block=256 grid=1 where n=255

__global__ void addOne(float* a, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) a[i] += 1.0f;
}

__global__ void addClamped(float* a, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  a[i < n ? i : n - 1] += 1.0f;
}

void run(float* a, int n) {
  addOne<<<(n + 255) / 256, 256>>>(a, n);
  int threads = 256, blocks = (n - 1) / threads + 1;
  addClamped<<<blocks, threads>>>(a, n);
}

