// expect: addOne race=proved divergence=proved
// expect: addOne silent
// expect: addOne launch main.cu:30 block=16,8 grid=4,4 where w=60,h=30
// expect: addTall race=race divergence=proved
// expect: addTall finding race/global error on a lines 17
// expect: addTall launch main.cu:32 block=16,32 grid=4,1 where w=60,h=30
//
// The function returns its results through pointers.

__global__ void addOne(float* a, int w, int h) {
  int x = blockIdx.x * 16 + threadIdx.x, y = blockIdx.y * 8 + threadIdx.y;
  if (x < w && y < h) a[y * w + x] += 1.0f;
}

__global__ void addTall(float* a, int w, int h) {
  int x = blockIdx.x * 16 + threadIdx.x, y = blockIdx.y * 8 + threadIdx.y;
  if (x < w && y < h) a[y * w + x] += 1.0f;
}

static void shape(int w, int h, int rows, dim3* grid, dim3* block) {
  *block = dim3(16, rows);
  grid->x = (w + 15) / 16;
  grid->y = (h + rows - 1) / rows;
  grid->z = 1;
}

void run(float* a, int w, int h) {
  dim3 grid, block;
  shape(w, h, 8, &grid, &block);
  addOne<<<grid, block>>>(a, w, h);
  shape(w, h, 32, &grid, &block);
  addTall<<<grid, block>>>(a, w, h);
}

