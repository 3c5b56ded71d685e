// expect: transposeTile race=proved divergence=proved
// expect: transposeTile silent
// expect: transposeTileNoBarrier race=race divergence=proved
// expect: transposeTileNoBarrier finding race/shared error on tile lines 34,38
// expect: transposeTileTooFar race=possible divergence=proved
// expect: transposeTileTooFar finding memory/out-of-bounds error on tile lines 46
// expect: transposeInPlace race=proved divergence=proved
// expect: transposeInPlace silent
// expect: transposeInPlaceBoth race=race divergence=proved
// expect: transposeInPlaceBoth finding race/global error on a lines 66,67,68
// expect: transposeShortIndex race=proved divergence=proved
// expect: transposeShortIndex silent
// expect: transposeShortIndexWraps race=race divergence=proved
// expect: transposeShortIndexWraps finding race/global error on out lines 82
//
// Transposition of square matrices.

__global__ void transposeTile(float* out, const float* in, int n) {
  __shared__ float tile[32][33];
  int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 32 + threadIdx.y;
  for (int j = 0; j < 32; j += 8)
    if (x < n && y + j < n) tile[threadIdx.y + j][threadIdx.x] = in[(y + j) * n + x];
  __syncthreads();
  x = blockIdx.y * 32 + threadIdx.x;
  y = blockIdx.x * 32 + threadIdx.y;
  for (int j = 0; j < 32; j += 8)
    if (x < n && y + j < n) out[(y + j) * n + x] = tile[threadIdx.x][threadIdx.y + j];
}

__global__ void transposeTileNoBarrier(float* out, const float* in, int n) {
  __shared__ float tile[32][33];
  int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 32 + threadIdx.y;
  for (int j = 0; j < 32; j += 8)
    if (x < n && y + j < n) tile[threadIdx.y + j][threadIdx.x] = in[(y + j) * n + x];
  x = blockIdx.y * 32 + threadIdx.x;
  y = blockIdx.x * 32 + threadIdx.y;
  for (int j = 0; j < 32; j += 8)
    if (x < n && y + j < n) out[(y + j) * n + x] = tile[threadIdx.x][threadIdx.y + j];
}

// `<=` adds a fifth iteration, in which rows 32 to 39 of the tile are stored.
__global__ void transposeTileTooFar(float* out, const float* in, int n) {
  __shared__ float tile[32][32];
  int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 32 + threadIdx.y;
  for (int j = 0; j <= 32; j += 8)
    if (x < n && y + j < n) tile[threadIdx.y + j][threadIdx.x] = in[(y + j) * n + x];
  __syncthreads();
  x = blockIdx.y * 32 + threadIdx.x;
  y = blockIdx.x * 32 + threadIdx.y;
  for (int j = 0; j < 32; j += 8)
    if (x < n && y + j < n) out[(y + j) * n + x] = tile[threadIdx.x][threadIdx.y + j];
}

__global__ void transposeInPlace(float* a, int n) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= n || y >= x) return;
  float other = a[y * n + x];
  a[y * n + x] = a[x * n + y];
  a[x * n + y] = other;
}

// Above and below the diagonal: each pair of elements is swapped by two threads.
__global__ void transposeInPlaceBoth(float* a, int n) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= n || y >= n) return;
  float other = a[y * n + x];
  a[y * n + x] = a[x * n + y];
  a[x * n + y] = other;
}

// 256 rows of 256 elements have exactly the number of indices that a short can represent.
__global__ void transposeShortIndex(float* out, const float* in, int n) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  unsigned short to = x * n + y;
  out[to] = in[y * n + x];
}

// With 512 rows the indices wrap around.
__global__ void transposeShortIndexWraps(float* out, const float* in, int n) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  unsigned short to = x * n + y;
  out[to] = in[y * n + x];
}

void launchTransposes(float* out, float* a, const float* in) {
  transposeTile<<<dim3(32, 32), dim3(32, 8)>>>(out, in, 1000);
  transposeTileNoBarrier<<<dim3(32, 32), dim3(32, 8)>>>(out, in, 1000);
  transposeTileTooFar<<<dim3(32, 32), dim3(32, 8)>>>(out, in, 1000);
  transposeInPlace<<<dim3(7, 13), dim3(16, 8)>>>(a, 100);
  transposeInPlaceBoth<<<dim3(7, 13), dim3(16, 8)>>>(a, 100);
  transposeShortIndex<<<dim3(16, 16), dim3(16, 16)>>>(out, in, 256);
  transposeShortIndexWraps<<<dim3(32, 32), dim3(16, 16)>>>(out, in, 512);
}
