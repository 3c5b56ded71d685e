// expect: thereAndBack race=proved divergence=proved
// expect: thereAndBack silent
// expect: backAside race=race divergence=proved
// expect: backAside finding race/global error on a lines 32,38
// expect: edges race=proved divergence=proved
// expect: edges silent
// expect: narrowRows race=race divergence=proved
// expect: narrowRows finding race/global error on a lines 57
//
// A thread goes down a column and up again; pointers move by a row.

__global__ void thereAndBack(float *a, int w, int h) {
  int x = blockIdx.x * blockDim.x + threadIdx.x;
  if (x >= w) return;
  a += x;
  for (int y = 0; y < h; y++) {
    *a = x;
    a += w;
  }
  a -= w;
  for (int y = h - 1; y >= 0; y--) {
    *a += 1.0f;
    a -= w;
  }
}

__global__ void backAside(float *a, int w, int h) {
  int x = blockIdx.x * blockDim.x + threadIdx.x;
  if (x >= w) return;
  a += x;
  for (int y = 0; y < h; y++) {
    *a = x;
    a += w;
  }
  // One element too few.
  a -= w - 1;
  for (int y = h - 1; y >= 0; y--) {
    *a += 1.0f;
    a -= w;
  }
}

// The first rows, and those after them.
__global__ void edges(float *a, int w, int h, int r) {
  int x = blockIdx.x * blockDim.x + threadIdx.x;
  if (x >= w) return;
  a[x] = 0;
  for (int y = 1; y < r + 1; y++) a[x + y * w] = y;
  for (int y = r + 1; y < h - r; y++) a[x + y * w] = r;
  for (int y = h - r; y < h; y++) a[x + y * w] = h - y;
}

__global__ void narrowRows(float *a, int w, int h) {
  int x = blockIdx.x * blockDim.x + threadIdx.x;
  if (x > w) return;
  for (int y = 0; y < h; y++) {
    a[x] = y;
    a += w;
  }
}
