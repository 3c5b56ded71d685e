// expect: rankPull race=proved divergence=proved
// expect: rankPull silent
// expect: rankPullInPlace race=race divergence=proved
// expect: rankPullInPlace finding race/global warning on rank lines 77,78
// expect: rankPush race=proved divergence=proved
// expect: rankPush silent
// expect: rankPushPlain race=race divergence=proved
// expect: rankPushPlain finding race/global warning on next lines 91
// expect: rankPushBlockScope race=race divergence=proved
// expect: rankPushBlockScope finding race/global warning on next lines 98
// expect: rankDelta race=proved divergence=proved
// expect: rankDelta silent
// expect: rankDeltaPlainTake race=race divergence=proved
// expect: rankDeltaPlainTake finding race/global warning on residual lines 113,114,117
// expect: rankPullOfBlocks race=proved divergence=proved
// expect: rankPullOfBlocks silent
// expect: rankPullOfBlocksNoBarrier race=race divergence=proved
// expect: rankPullOfBlocksNoBarrier finding race/shared error on part lines 139,141
// expect: rankTotal race=proved divergence=proved
// expect: rankTotal silent
// expect: rankTotalPlain race=race divergence=proved
// expect: rankTotalPlain finding race/global error on total lines 159
// expect: componentsTwoArrays race=proved divergence=proved
// expect: componentsTwoArrays silent
// expect: componentsInPlace race=race divergence=proved
// expect: componentsInPlace finding race/global warning on label lines 175,176
// expect: componentsChanged race=proved divergence=proved
// expect: componentsChanged assumes equal-value-writes
// expect: componentsChanged silent
// expect: componentsCounted race=race divergence=proved
// expect: componentsCounted finding race/global error on changed lines 198
// expect: componentsHook race=proved divergence=proved
// expect: componentsHook silent
// expect: componentsHookPlainLoad race=race divergence=proved
// expect: componentsHookPlainLoad finding race/global warning on label lines 211,213
// open: componentsHookPlainLoad possible: words that are accessed atomically start at 0, and no root is hung elsewhere then
// expect: componentsJump race=proved divergence=proved
// expect: componentsJump silent
// expect: componentsJumpInPlace race=race divergence=proved
// expect: componentsJumpInPlace finding race/global warning on label lines 223
// expect: trianglesOfVertices race=proved divergence=proved
// expect: trianglesOfVertices silent
// expect: trianglesTotal race=proved divergence=proved
// expect: trianglesTotal silent
// expect: trianglesTotalPlain race=race divergence=proved
// expect: trianglesTotalPlain finding race/global error on total lines 256
// expect: trianglesOfBlocks race=proved divergence=proved
// expect: trianglesOfBlocks silent
// expect: trianglesOfBlocksTooEarly race=race divergence=proved
// expect: trianglesOfBlocksTooEarly finding race/shared error on found lines 276,277
// expect: trianglesOfWarps race=proved divergence=proved
// expect: trianglesOfWarps silent
// expect: trianglesOfWarpsUnguarded race=race divergence=proved
// expect: trianglesOfWarpsUnguarded finding race/global error on triangles lines 292
//
// PageRank, connected components and triangles: pulled or pushed, by thread, warp or block.

__device__ int loadLabel(const int* p) {
  int value;
  asm volatile("ld.relaxed.gpu.global.s32 %0, [%1];" : "=r"(value) : "l"(p) : "memory");
  return value;
}

__global__ void rankPull(float* next, const float* rank, const int* row, const int* column, int n) {
  int v = blockIdx.x * blockDim.x + threadIdx.x;
  if (v >= n) return;
  float sum = 0;
  for (int e = row[v]; e < row[v + 1]; e++) sum += rank[column[e]];
  next[v] = 0.15f + 0.85f * sum;
}

__global__ void rankPullInPlace(float* rank, const int* row, const int* column, int n) {
  int v = blockIdx.x * blockDim.x + threadIdx.x;
  if (v >= n) return;
  float sum = 0;
  for (int e = row[v]; e < row[v + 1]; e++)
    sum += rank[column[e]];
  rank[v] = 0.15f + 0.85f * sum;
}

__global__ void rankPush(float* next, const float* rank, const int* row, const int* column, int n) {
  int v = blockIdx.x * blockDim.x + threadIdx.x;
  if (v >= n) return;
  for (int e = row[v]; e < row[v + 1]; e++) atomicAdd(&next[column[e]], rank[v]);
}

__global__ void rankPushPlain(float* next, const float* rank, const int* row, const int* column, int n) {
  int v = blockIdx.x * blockDim.x + threadIdx.x;
  if (v >= n) return;
  for (int e = row[v]; e < row[v + 1]; e++)
    next[column[e]] += rank[v];
}

__global__ void rankPushBlockScope(float* next, const float* rank, const int* row, const int* column, int n) {
  int v = blockIdx.x * blockDim.x + threadIdx.x;
  if (v >= n) return;
  for (int e = row[v]; e < row[v + 1]; e++)
    atomicAdd_block(&next[column[e]], rank[v]);
}

// Each thread takes the residual of its vertex, and passes it on.
__global__ void rankDelta(float* rank, float* residual, const int* row, const int* column, int n) {
  int v = blockIdx.x * blockDim.x + threadIdx.x;
  if (v >= n) return;
  float own = atomicExch(&residual[v], 0.0f);
  rank[v] += own;
  for (int e = row[v]; e < row[v + 1]; e++) atomicAdd(&residual[column[e]], 0.85f * own);
}

__global__ void rankDeltaPlainTake(float* rank, float* residual, const int* row, const int* column, int n) {
  int v = blockIdx.x * blockDim.x + threadIdx.x;
  if (v >= n) return;
  float own = residual[v];
  residual[v] = 0;
  rank[v] += own;
  for (int e = row[v]; e < row[v + 1]; e++)
    atomicAdd(&residual[column[e]], 0.85f * own);
}

__global__ void rankPullOfBlocks(float* next, const float* rank, const int* row, const int* column) {
  __shared__ float part[128];
  int v = blockIdx.x, t = threadIdx.x;
  float sum = 0;
  for (int e = row[v] + t; e < row[v + 1]; e += 128) sum += rank[column[e]];
  part[t] = sum;
  __syncthreads();
  for (int d = 64; d > 0; d /= 2) {
    if (t < d) part[t] += part[t + d];
    __syncthreads();
  }
  if (t == 0) next[v] = part[0];
}

__global__ void rankPullOfBlocksNoBarrier(float* next, const float* rank, const int* row, const int* column) {
  __shared__ float part[128];
  int v = blockIdx.x, t = threadIdx.x;
  float sum = 0;
  for (int e = row[v] + t; e < row[v + 1]; e += 128) sum += rank[column[e]];
  part[t] = sum;
  for (int d = 64; d > 0; d /= 2) {
    if (t < d) part[t] += part[t + d];
    __syncthreads();
  }
  if (t == 0) next[v] = part[0];
}

__global__ void rankTotal(float* total, const float* rank, int n) {
  int v = blockIdx.x * blockDim.x + threadIdx.x;
  float sum = v < n ? rank[v] : 0;
  for (int d = 16; d > 0; d /= 2) sum += __shfl_down_sync(0xffffffffu, sum, d);
  if (threadIdx.x % 32 == 0) atomicAdd(total, sum);
}

__global__ void rankTotalPlain(float* total, const float* rank, int n) {
  int v = blockIdx.x * blockDim.x + threadIdx.x;
  float sum = v < n ? rank[v] : 0;
  for (int d = 16; d > 0; d /= 2) sum += __shfl_down_sync(0xffffffffu, sum, d);
  if (threadIdx.x % 32 == 0)
    *total += sum;
}

__global__ void componentsTwoArrays(int* next, const int* label, const int* row, const int* column, int n) {
  int v = blockIdx.x * blockDim.x + threadIdx.x;
  if (v >= n) return;
  int least = label[v];
  for (int e = row[v]; e < row[v + 1]; e++) least = min(least, label[column[e]]);
  next[v] = least;
}

__global__ void componentsInPlace(int* label, const int* row, const int* column, int n) {
  int v = blockIdx.x * blockDim.x + threadIdx.x;
  if (v >= n) return;
  int least = label[v];
  for (int e = row[v]; e < row[v + 1]; e++)
    least = min(least, label[column[e]]);
  label[v] = least;
}

// All threads that change something store the same.
__global__ void componentsChanged(int* next, int* changed, const int* label, const int* row, const int* column,
                                  int n) {
  int v = blockIdx.x * blockDim.x + threadIdx.x;
  if (v >= n) return;
  int own = label[v], least = own;
  for (int e = row[v]; e < row[v + 1]; e++) least = min(least, label[column[e]]);
  next[v] = least;
  if (least != own) *changed = 1;
}

__global__ void componentsCounted(int* next, int* changed, const int* label, const int* row, const int* column,
                                  int n) {
  int v = blockIdx.x * blockDim.x + threadIdx.x;
  if (v >= n) return;
  int own = label[v], least = own;
  for (int e = row[v]; e < row[v + 1]; e++) least = min(least, label[column[e]]);
  next[v] = least;
  if (least != own)
    (*changed)++;
}

__global__ void componentsHook(int* label, const int* from, const int* to, int edges) {
  int e = blockIdx.x * blockDim.x + threadIdx.x;
  if (e >= edges) return;
  int a = loadLabel(&label[from[e]]), b = loadLabel(&label[to[e]]);
  if (a != b) atomicMin(&label[max(a, b)], min(a, b));
}

__global__ void componentsHookPlainLoad(int* label, const int* from, const int* to, int edges) {
  int e = blockIdx.x * blockDim.x + threadIdx.x;
  if (e >= edges) return;
  int a = label[from[e]], b = label[to[e]];
  if (a != b)
    atomicMin(&label[max(a, b)], min(a, b));
}

__global__ void componentsJump(int* next, const int* label, int n) {
  int v = blockIdx.x * blockDim.x + threadIdx.x;
  if (v < n) next[v] = label[label[v]];
}

__global__ void componentsJumpInPlace(int* label, int n) {
  int v = blockIdx.x * blockDim.x + threadIdx.x;
  if (v < n) label[v] = label[label[v]];
}

// Common neighbours of both ends of each edge, whose columns ascend.
__device__ int common(const int* row, const int* column, int a, int b) {
  int i = row[a], j = row[b], found = 0;
  while (i < row[a + 1] && j < row[b + 1]) {
    int x = column[i], y = column[j];
    found += x == y;
    i += x <= y;
    j += y <= x;
  }
  return found;
}

__global__ void trianglesOfVertices(int* triangles, const int* row, const int* column, int n) {
  int v = blockIdx.x * blockDim.x + threadIdx.x;
  if (v >= n) return;
  int found = 0;
  for (int e = row[v]; e < row[v + 1]; e++) found += common(row, column, v, column[e]);
  triangles[v] = found;
}

__global__ void trianglesTotal(int* total, const int* row, const int* column, const int* from, const int* to,
                               int edges) {
  int e = blockIdx.x * blockDim.x + threadIdx.x;
  if (e < edges) atomicAdd(total, common(row, column, from[e], to[e]));
}

__global__ void trianglesTotalPlain(int* total, const int* row, const int* column, const int* from, const int* to,
                                    int edges) {
  int e = blockIdx.x * blockDim.x + threadIdx.x;
  if (e < edges)
    *total += common(row, column, from[e], to[e]);
}

__global__ void trianglesOfBlocks(int* triangles, const int* row, const int* column) {
  __shared__ int found;
  int v = blockIdx.x;
  if (threadIdx.x == 0) found = 0;
  __syncthreads();
  for (int e = row[v] + threadIdx.x; e < row[v + 1]; e += blockDim.x)
    atomicAdd(&found, common(row, column, v, column[e]));
  __syncthreads();
  if (threadIdx.x == 0) triangles[v] = found;
}

__global__ void trianglesOfBlocksTooEarly(int* triangles, const int* row, const int* column) {
  __shared__ int found;
  int v = blockIdx.x;
  if (threadIdx.x == 0) found = 0;
  __syncthreads();
  for (int e = row[v] + threadIdx.x; e < row[v + 1]; e += blockDim.x)
    atomicAdd(&found, 1 + common(row, column, v, column[e]));
  if (threadIdx.x == 0) triangles[v] = found;
}

__global__ void trianglesOfWarps(int* triangles, const int* row, const int* column) {
  int v = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32, found = 0;
  for (int e = row[v] + lane; e < row[v + 1]; e += 32) found += common(row, column, v, column[e]);
  for (int d = 16; d > 0; d /= 2) found += __shfl_down_sync(0xffffffffu, found, d);
  if (lane == 0) triangles[v] = found;
}

// Lanes other than the first have partial sums.
__global__ void trianglesOfWarpsUnguarded(int* triangles, const int* row, const int* column) {
  int v = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32, found = 0;
  for (int e = row[v] + lane; e < row[v + 1]; e += 32) found += common(row, column, v, column[e]);
  for (int d = 16; d > 0; d /= 2) found += __shfl_down_sync(0xffffffffu, found, d);
  triangles[v] = found + lane;
}

void rankAll(float* x, float* y, const float* z, int* a, int* b, const int* c, const int* row, const int* column) {
  rankPull<<<16, 256>>>(x, z, row, column, 4000);
  rankPullInPlace<<<16, 256>>>(x, row, column, 4000);
  rankPush<<<16, 256>>>(x, z, row, column, 4000);
  rankPushPlain<<<16, 256>>>(x, z, row, column, 4000);
  rankPushBlockScope<<<16, 256>>>(x, z, row, column, 4000);
  rankDelta<<<16, 256>>>(x, y, row, column, 4000);
  rankDeltaPlainTake<<<16, 256>>>(x, y, row, column, 4000);
  rankPullOfBlocks<<<400, 128>>>(x, z, row, column);
  rankPullOfBlocksNoBarrier<<<400, 128>>>(x, z, row, column);
  rankTotal<<<16, 256>>>(x, z, 4000);
  rankTotalPlain<<<16, 256>>>(x, z, 4000);
  componentsTwoArrays<<<16, 256>>>(a, c, row, column, 4000);
  componentsInPlace<<<16, 256>>>(a, row, column, 4000);
  componentsChanged<<<16, 256>>>(a, b, c, row, column, 4000);
  componentsCounted<<<16, 256>>>(a, b, c, row, column, 4000);
  componentsHook<<<16, 256>>>(a, row, column, 4000);
  componentsHookPlainLoad<<<16, 256>>>(a, row, column, 4000);
  componentsJump<<<16, 256>>>(a, c, 4000);
  componentsJumpInPlace<<<16, 256>>>(a, 4000);
  trianglesOfVertices<<<16, 256>>>(a, row, column, 4000);
  trianglesTotal<<<16, 256>>>(a, row, column, c, column, 4000);
  trianglesTotalPlain<<<16, 256>>>(a, row, column, c, column, 4000);
  trianglesOfBlocks<<<400, 128>>>(a, row, column);
  trianglesOfBlocksTooEarly<<<400, 128>>>(a, row, column);
  trianglesOfWarps<<<50, 256>>>(a, row, column);
  trianglesOfWarpsUnguarded<<<50, 256>>>(a, row, column);
}
