// expect: brighten race=proved divergence=proved
// expect: brighten assumes no-wrap
// expect: brighten silent
// expect: brightenSigned race=proved divergence=proved
// expect: brightenSigned silent
// expect: brightenTooFar race=race divergence=proved
// expect: brightenTooFar finding race/global error on out lines 34
// expect: rowOfBlocks race=proved divergence=proved
// expect: rowOfBlocks silent
// expect: rowOfBlocksWrong race=race divergence=proved
// expect: rowOfBlocksWrong finding race/global error on out lines 51
// expect: hashed race=possible divergence=proved
// expect: clamped race=proved divergence=proved
// expect: clamped precondition "s >= w"
// expect: clamped silent
// expect: clampedAll race=race divergence=proved
// expect: clampedAll finding race/global error on out lines 73
//
// expect: diagonal race=possible divergence=proved
// expect: diagonal silent
// expect: diagonalWrong race=race divergence=proved
// expect: diagonalWrong finding race/global error on out lines 92

// Images by rows, with products of 24 bits as old programs have them.
__global__ void brighten(float *out, const float *in, unsigned w, unsigned h) {
  unsigned x = __umul24(blockIdx.x, blockDim.x) + threadIdx.x;
  unsigned y = __umul24(blockIdx.y, blockDim.y) + threadIdx.y;
  if (x < w && y < h) out[__umul24(y, w) + x] = 2.0f * in[__umul24(y, w) + x];
}

__global__ void brightenTooFar(float *out, const float *in, unsigned w, unsigned h) {
  unsigned x = __umul24(blockIdx.x, blockDim.x) + threadIdx.x;
  unsigned y = __umul24(blockIdx.y, blockDim.y) + threadIdx.y;
  if (x <= w && y < h) out[__umul24(y, w) + x] = y;
}

__global__ void brightenSigned(float *out, const float *in, int w, int h) {
  int x = __mul24(blockIdx.x, blockDim.x) + threadIdx.x;
  int y = __mul24(blockIdx.y, blockDim.y) + threadIdx.y;
  if (x < w && y < h) out[__mul24(y, w) + x] = 2.0f * in[__mul24(y, w) + x];
}

// Blocks in rows, numbered through.
__global__ void rowOfBlocks(unsigned *out, unsigned n) {
  unsigned block = __mul24(blockIdx.y, gridDim.x) + blockIdx.x, i = __mul24(block, blockDim.x) + threadIdx.x;
  if (i < n) out[i] = blockIdx.x;
}

__global__ void rowOfBlocksWrong(unsigned *out, unsigned n) {
  unsigned block = __mul24(blockIdx.y, gridDim.x - 1) + blockIdx.x, i = __mul24(block, blockDim.x) + threadIdx.x;
  if (i < n) out[i] = blockIdx.x;
}

// A mask that the program writes cuts off on purpose.
__global__ void hashed(unsigned *out) {
  unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  out[i * 5 & 0xffffff] = i;
}

// Threads beyond the image read its edge, and the stride of a row is not its width.
__global__ void clamped(float *out, const float *in, int w, int h, int s) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  int at = min(x, w - 1) + min(y, h - 1) * s;
  float v = in[at] + in[min(x + 1, w - 1) + min(y, h - 1) * s];
  if (x >= w || y >= h) return;
  out[at] = v;
}

// Threads beyond the image write its edge.
__global__ void clampedAll(float *out, int w, int h, int s) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  int at = min(x, w - 1) + min(y, h - 1) * s;
  out[at] = x;
}

// Blocks in another order, each still once: no representative stride makes that a race.
__global__ void diagonal(float *out, const float *in, int w, int h) {
  int by = blockIdx.x, bx = (blockIdx.x + blockIdx.y) % gridDim.x;
  if (w != h) {
    int block = blockIdx.x + gridDim.x * blockIdx.y;
    by = block % gridDim.y;
    bx = (block / gridDim.y + by) % gridDim.x;
  }
  int x = bx * blockDim.x + threadIdx.x, y = by * blockDim.y + threadIdx.y;
  out[y * w + x] = in[y * w + x];
}

// Blocks of one column come to one tile.
__global__ void diagonalWrong(float *out, int w, int h) {
  int by = blockIdx.x % gridDim.y, bx = blockIdx.x;
  int x = bx * blockDim.x + threadIdx.x, y = by * blockDim.y + threadIdx.y;
  out[y * w + x] = blockIdx.y;
}
