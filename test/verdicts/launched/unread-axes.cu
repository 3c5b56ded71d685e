// expect: rowsOfBlocks race=race divergence=proved
// expect: rowsOfBlocks finding race/global error on a lines 27
// expect: fourRowsOfBlocks race=race divergence=proved
// expect: fourRowsOfBlocks finding race/global error on a lines 32
// expect: layersOfBlocks race=race divergence=proved
// expect: layersOfBlocks finding race/global error on a lines 37
// expect: rowsOfThreads race=race divergence=proved
// expect: rowsOfThreads finding race/global error on a lines 42
// expect: columnsOfThreads race=race divergence=proved
// expect: columnsOfThreads finding race/global error on a lines 47
// expect: firstThreadOfRows race=race divergence=proved
// expect: firstThreadOfRows finding race/global error on a lines 52,54
// expect: oneRowOfBlocks race=proved divergence=proved
// expect: oneRowOfBlocks silent
// expect: oneRowAtLast race=proved divergence=proved
// expect: oneRowAtLast silent
// expect: rowsThatOnlyRead race=proved divergence=proved
// expect: rowsThatOnlyRead assumes equal-value-writes
// expect: unknownExtents race=proved divergence=proved
// expect: unknownExtents silent
// expect: unknownExtents assumes launch
//
// Blocks and threads along an axis that the kernel does not read do the same. The launch specifies their number.

__global__ void rowsOfBlocks(float* a, int n, int m) {
  int i = blockIdx.x * 32 + threadIdx.x;
  if (i < n) a[i] += 1.0f;
}

__global__ void fourRowsOfBlocks(float* a, int n) {
  int i = blockIdx.x * 32 + threadIdx.x;
  if (i < n) a[i] += 1.0f;
}

__global__ void layersOfBlocks(float* a, int n) {
  int i = blockIdx.x * 32 + threadIdx.x;
  if (i < n) a[i] += 1.0f;
}

__global__ void rowsOfThreads(float* a, int n) {
  int i = blockIdx.x * 32 + threadIdx.x;
  if (i < n) a[i] += 1.0f;
}

__global__ void columnsOfThreads(float* a, int n) {
  int i = blockIdx.y * 32 + threadIdx.y;
  if (i < n) a[i] += 1.0f;
}

__global__ void firstThreadOfRows(float* a, int n) {
  __shared__ float sum;
  if (threadIdx.x == 0) sum = a[blockIdx.x];
  __syncthreads();
  if (threadIdx.x == 0) a[blockIdx.x] = sum + 1;
}

__global__ void oneRowOfBlocks(float* a, int n) {
  int i = blockIdx.x * 32 + threadIdx.x;
  if (i < n) a[i] += 1.0f;
}

__global__ void oneRowAtLast(float* a, int n) {
  int i = blockIdx.x * 32 + threadIdx.x;
  if (i < n) a[i] += 1.0f;
}

__global__ void rowsThatOnlyRead(float* a, const float* b, int n) {
  int i = blockIdx.x * 32 + threadIdx.x;
  if (i < n && b[i] < 0) a[0] = 0;
}

__global__ void unknownExtents(float* a, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) a[i] += 1.0f;
}

// The extents are known only to the caller: they are unspecified here.
void run(float* a, const float* b, int n, int m, dim3 grid, dim3 block) {
  rowsOfBlocks<<<dim3((n + 31) / 32, (m + 31) / 32), 32>>>(a, n, m);
  fourRowsOfBlocks<<<dim3((n + 31) / 32, 4), 32>>>(a, n);
  layersOfBlocks<<<dim3((n + 31) / 32, 1, m), 32>>>(a, n);
  rowsOfThreads<<<(n + 31) / 32, dim3(32, m)>>>(a, n);
  columnsOfThreads<<<dim3(1, (n + 31) / 32), dim3(m, 32)>>>(a, n);
  firstThreadOfRows<<<dim3(n, m), 64>>>(a, n);
  oneRowOfBlocks<<<dim3((n + 31) / 32, 1), 32>>>(a, n);
  oneRowAtLast<<<dim3((n + 31) / 32, m / m), dim3(32, 3 - 2)>>>(a, n);
  rowsThatOnlyRead<<<dim3((n + 31) / 32, m), 32>>>(a, b, n);
  unknownExtents<<<grid, block>>>(a, n);
}
