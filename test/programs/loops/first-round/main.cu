// expect: halves race=proved divergence=proved
// expect: halves silent
// expect: halves launch main.cu:34 block=256 permits m=1024,gridDim.x=4
// expect: halves launch main.cu:34 block=256 excludes m=1024,gridDim.x=5
// expect: halves launch main.cu:34 grid=1 where blockDim.x=100,m=100
// expect: ahead race=race divergence=proved
// expect: ahead finding race/global error on a lines 20,21
//
// Updates in the loop are known in each iteration: all blocks fill the first one, and one the others.

/** A block writes its own part, and one of the elements after all parts. */
__global__ void halves(float* a, int m, int size) {
  int i = blockIdx.x * size + threadIdx.x;
  a[i] = 1;
  if (threadIdx.x == 0) a[m + blockIdx.x] = i;
}

/** Writes into the part of other threads of the block, or of other blocks. */
__global__ void ahead(float* a, int m, int size) {
  a[blockIdx.x * size + threadIdx.x] = threadIdx.x;
  if (threadIdx.x == 0) a[m / 2 + blockIdx.x] = blockIdx.x;
}

void run(float* a, int n) {
  int left = n / 2;
  dim3 block, grid;
  if (n <= 512) {
    block.x = left;
  } else {
    grid.x = left / 256;
    block.x = 256;
  }
  while (left != 0) {
    halves<<<grid, block>>>(a, left, block.x);
    ahead<<<grid, block>>>(a, left, block.x);
    left = left >> 8;
    grid.x = left / 256 + (left % 256 != 0) ? 1 : 0;
    if (grid.x <= 1) block.x = left;
  }
}
