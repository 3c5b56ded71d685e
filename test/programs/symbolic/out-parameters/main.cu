// expect: addOne race=proved divergence=proved
// expect: addOne silent
// expect: addOne launch main.cu:31 block=256 grid=4 where n=1000
// expect: addOne launch main.cu:31 permits blockDim.x=100,gridDim.x=1,n=100
// expect: addChunk race=race divergence=proved
// expect: addChunk finding race/global error on a lines 18
// expect: addChunk launch main.cu:33 block=512 grid=2 where n=1000
//
// The block is the smaller one of n and the requested size.

__global__ void addOne(float* a, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) a[i] += 1.0f;
}

__global__ void addChunk(float* a, int n) {
  int i = blockIdx.x * 256 + threadIdx.x;
  if (i < n) a[i] += 1.0f;
}

static int divideUp(int a, int b) { return (a % b != 0) ? (a / b + 1) : (a / b); }

static void computeGridSize(int n, int blockSize, int& blocks, int& threads) {
  threads = n < blockSize ? n : blockSize;
  blocks = divideUp(n, threads);
}

void run(float* a, int n) {
  int blocks, threads;
  computeGridSize(n, 256, blocks, threads);
  addOne<<<blocks, threads>>>(a, n);
  computeGridSize(n, 512, blocks, threads);
  addChunk<<<blocks, threads>>>(a, n);
}
