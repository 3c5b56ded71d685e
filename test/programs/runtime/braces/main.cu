// expect: addTile race=proved divergence=proved
// expect: addTile silent
// expect: addTile launch main.cu:23 block=16,8 grid=4,8 args w=64
// expect: addTileShort race=race divergence=proved
// expect: addTileShort finding race/global error on a lines 17
// expect: addTileShort launch main.cu:24 block=16,8 grid=4,8 args w=60
//
// Dimensions between braces. The rows of the second launch are shorter than its grid.

__global__ void addTile(float* a, int w) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  a[y * w + x] += 1.0f;
}

__global__ void addTileShort(float* a, int w) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  a[y * w + x] += 1.0f;
}

void run(float* a) {
  dim3 block{16, 8};
  dim3 grid = {64 / block.x, 64 / block.y, 1};
  addTile<<<grid, block>>>(a, 64);
  addTileShort<<<{4, 8}, {16, 8}>>>(a, 60);
}
