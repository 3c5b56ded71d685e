// expect: addRow race=proved divergence=proved
// expect: addRow silent
// expect: addRow launch main.cu:24 block=64,4 grid=2,8 where w=100,h=30
// expect: addRowLong race=race divergence=proved
// expect: addRowLong finding race/global error on a lines 15
// expect: addRowLong launch main.cu:26 block=128,4 grid=1,8 where w=100,h=30

__global__ void addRow(float* a, int w, int h) {
  int x = blockIdx.x * 64 + threadIdx.x, y = blockIdx.y * 4 + threadIdx.y;
  if (x < w && y < h) a[y * w + x] += 1.0f;
}

__global__ void addRowLong(float* a, int w, int h) {
  int x = blockIdx.x * 64 + threadIdx.x, y = blockIdx.y * 4 + threadIdx.y;
  if (x < w && y < h) a[y * w + x] += 1.0f;
}

inline int divUp(int a, int b) { return (a + b - 1) / b; }

static dim3 gridFor(int w, int h, const dim3& block) { return dim3(divUp(w, block.x), divUp(h, block.y)); }

void run(float* a, int w, int h) {
  dim3 block(64, 4);
  addRow<<<gridFor(w, h, block), block>>>(a, w, h);
  dim3 longer(128, 4);
  addRowLong<<<gridFor(w, h, longer), longer>>>(a, w, h);
}

