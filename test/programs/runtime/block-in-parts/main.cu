// expect: addTile race=proved divergence=proved
// expect: addTile silent
// expect: addTile launch main.cu:27 block=16,16 grid=4,2 where w=60,h=30
// expect: addTileWide race=race divergence=proved
// expect: addTileWide finding race/global error on a lines 17
// expect: addTileWide launch main.cu:30 block=32,16 grid=8,4 args w=120,h=60
//
// The members of dim3 are set one after the other.

__global__ void addTile(float* a, int w, int h) {
  int x = blockIdx.x * 16 + threadIdx.x, y = blockIdx.y * 16 + threadIdx.y;
  if (x < w && y < h) a[y * w + x] += 1.0f;
}

__global__ void addTileWide(float* a, int w, int h) {
  int x = blockIdx.x * 16 + threadIdx.x, y = blockIdx.y * 16 + threadIdx.y;
  if (x < w && y < h) a[y * w + x] += 1.0f;
}

void run(float* a, int w, int h) {
  dim3 block;
  block.x = 16;
  block.y = 16;
  dim3 grid;
  grid.x = (w + block.x - 1) / block.x;
  grid.y = (h + block.y - 1) / block.y;
  addTile<<<grid, block>>>(a, w, h);
  block.x = 32;
  grid = dim3(8, 4);
  addTileWide<<<grid, block>>>(a, 120, 60);
}

