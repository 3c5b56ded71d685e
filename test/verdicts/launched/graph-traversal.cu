// expect: bfsTwoArrays race=proved divergence=proved
// expect: bfsTwoArrays silent
// expect: bfsInPlace race=race divergence=proved
// expect: bfsInPlace finding race/global warning on level lines 61,63,64
// open: bfsInPlace possible: random levels are never the one that is asked for
// expect: bfsPlainOwnLevel race=race divergence=proved
// expect: bfsPlainOwnLevel finding race/global warning on level lines 70,72
// expect: bfsStrongOwnLevel race=proved divergence=proved
// expect: bfsStrongOwnLevel silent
// expect: bfsWorkList race=proved divergence=proved
// expect: bfsWorkList silent
// expect: bfsWorkListPlainSlot race=race divergence=proved
// expect: bfsWorkListPlainSlot finding race/global error on count lines 98
// expect: bfsWorkListBlockScope race=race divergence=proved
// expect: bfsWorkListBlockScope finding race/global error on count lines 107
// expect: bfsWorkListOfWarps race=proved divergence=proved
// expect: bfsWorkListOfWarps silent
// expect: bfsWorkListOfBlocks race=proved divergence=proved
// expect: bfsWorkListOfBlocks silent
// open: bfsWorkListOfBlocks possible: how many slots the block draws is a number that it counted
// expect: bfsWorkListOfBlocksNoReset race=race divergence=proved
// expect: bfsWorkListOfBlocksNoReset finding race/shared error on size lines 139,140
// expect: shortestTwoArrays race=proved divergence=proved
// expect: shortestTwoArrays silent
// expect: shortestPlainMinimum race=race divergence=proved
// expect: shortestPlainMinimum finding race/global warning on next lines 160,161
// expect: shortestOfEdges race=proved divergence=proved
// expect: shortestOfEdges silent
// expect: shortestOfEdgesPlainLoad race=race divergence=proved
// expect: shortestOfEdgesPlainLoad finding race/global warning on distance lines 173
// expect: shortestWorkList race=proved divergence=proved
// expect: shortestWorkList silent
// expect: countEdges race=proved divergence=proved
// expect: countEdges silent
// expect: countEdgesOneTooMany race=race divergence=proved
// expect: countEdgesOneTooMany finding race/global error on uses lines 197
// expect: resetDistances race=proved divergence=proved
// expect: resetDistances silent
// expect: resetDistancesUnguarded race=possible divergence=proved
// expect: resetDistancesUnguarded finding memory/out-of-bounds error on distanceOf1000 lines 209
//
// Breadth-first search and shortest paths: a thread for each vertex (topology-driven), or for each entry of a work-list
// (data-driven). Level 0 is unvisited.

__device__ int loadStrongly(const int* p) {
  int value;
  asm volatile("ld.relaxed.gpu.global.s32 %0, [%1];" : "=r"(value) : "l"(p) : "memory");
  return value;
}

__global__ void bfsTwoArrays(int* next, const int* level, const int* row, const int* column, int n, int depth) {
  int v = blockIdx.x * blockDim.x + threadIdx.x;
  if (v >= n || level[v] != depth) return;
  for (int e = row[v]; e < row[v + 1]; e++)
    if (level[column[e]] == 0) atomicExch(&next[column[e]], depth + 1);
}

// The level of a vertex is loaded while others store it.
__global__ void bfsInPlace(int* level, const int* row, const int* column, int n, int depth) {
  int v = blockIdx.x * blockDim.x + threadIdx.x;
  if (v >= n || level[v] != depth) return;
  for (int e = row[v]; e < row[v + 1]; e++)
    if (level[column[e]] == 0)
      level[column[e]] = depth + 1;
}

// Atomics do not help a plain load.
__global__ void bfsPlainOwnLevel(int* level, const int* row, const int* column, int n, int depth) {
  int v = blockIdx.x * blockDim.x + threadIdx.x;
  if (v >= n || level[v] != depth) return;
  for (int e = row[v]; e < row[v + 1]; e++)
    atomicCAS(&level[column[e]], 0, depth + 1);
}

__global__ void bfsStrongOwnLevel(int* level, const int* row, const int* column, int n, int depth) {
  int v = blockIdx.x * blockDim.x + threadIdx.x;
  if (v >= n || loadStrongly(&level[v]) != depth) return;
  for (int e = row[v]; e < row[v + 1]; e++) atomicCAS(&level[column[e]], 0, depth + 1);
}

__global__ void bfsWorkList(int* level, int* later, unsigned* count, const int* frontier, const int* row,
                            const int* column, int n, int depth) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  int v = frontier[i];
  for (int e = row[v]; e < row[v + 1]; e++)
    if (atomicCAS(&level[column[e]], 0, depth) == 0) later[atomicAdd(count, 1u)] = column[e];
}

// The slot is allocated by a load and a store.
__global__ void bfsWorkListPlainSlot(int* level, int* later, unsigned* count, const int* frontier, const int* row,
                                     const int* column, int n, int depth) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  int v = frontier[i];
  for (int e = row[v]; e < row[v + 1]; e++)
    if (atomicCAS(&level[column[e]], 0, depth) == 0) {
      unsigned slot = (*count)++;
      atomicExch(&later[slot], column[e]);
    }
}

// Slots are distinct within a block only.
__global__ void bfsWorkListBlockScope(int* later, unsigned* count, const int* frontier, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n && frontier[i] > 0) {
    unsigned slot = atomicAdd_block(count, 1u);
    atomicExch(&later[slot], i);
  }
}

// A warp allocates the slots of its lanes at once.
__global__ void bfsWorkListOfWarps(int* later, unsigned* count, const int* frontier, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x, lane = threadIdx.x & 31;
  bool wanted = i < n && frontier[i] > 0;
  unsigned lanes = __ballot_sync(0xffffffffu, wanted), base = 0;
  if (lane == 0) base = atomicAdd(count, __popc(lanes));
  base = __shfl_sync(0xffffffffu, base, 0);
  if (wanted) later[base + __popc(lanes & ((1u << lane) - 1))] = i;
}

// A block collects its vertices in shared memory, allocates slots for all of them, and copies them.
__global__ void bfsWorkListOfBlocks(int* later, unsigned* count, const int* frontier, int n) {
  __shared__ int own[256];
  __shared__ unsigned size, base;
  int i = blockIdx.x * 256 + threadIdx.x;
  if (threadIdx.x == 0) size = 0;
  __syncthreads();
  if (i < n && frontier[i] > 0) own[atomicAdd(&size, 1u)] = i;
  __syncthreads();
  if (threadIdx.x == 0) base = atomicAdd(count, size);
  __syncthreads();
  for (unsigned slot = threadIdx.x; slot < size; slot += 256) later[base + slot] = own[slot];
}

__global__ void bfsWorkListOfBlocksNoReset(int* later, unsigned* count, const int* frontier, int n) {
  __shared__ unsigned size, base;
  int i = blockIdx.x * 256 + threadIdx.x;
  if (threadIdx.x == 0) size = 0;
  if (i < n && frontier[i] > 0) atomicAdd(&size, 1u);
  __syncthreads();
  if (threadIdx.x == 0) base = atomicAdd(count, size);
  __syncthreads();
  if (threadIdx.x == 0) later[blockIdx.x] = base;
}

__global__ void shortestTwoArrays(int* next, const int* distance, const int* row, const int* column,
                                  const int* weight, int n) {
  int v = blockIdx.x * blockDim.x + threadIdx.x;
  if (v >= n) return;
  for (int e = row[v]; e < row[v + 1]; e++) atomicMin(&next[column[e]], distance[v] + weight[e]);
}

__global__ void shortestPlainMinimum(int* next, const int* distance, const int* row, const int* column,
                                     const int* weight, int n) {
  int v = blockIdx.x * blockDim.x + threadIdx.x;
  if (v >= n) return;
  for (int e = row[v]; e < row[v + 1]; e++) {
    int length = distance[v] + weight[e];
    if (length < next[column[e]])
      next[column[e]] = length;
  }
}

__global__ void shortestOfEdges(int* distance, const int* from, const int* to, const int* weight, int edges) {
  int e = blockIdx.x * blockDim.x + threadIdx.x;
  if (e < edges) atomicMin(&distance[to[e]], loadStrongly(&distance[from[e]]) + weight[e]);
}

__global__ void shortestOfEdgesPlainLoad(int* distance, const int* from, const int* to, const int* weight,
                                         int edges) {
  int e = blockIdx.x * blockDim.x + threadIdx.x;
  if (e < edges) atomicMin(&distance[to[e]], distance[from[e]] + weight[e]);
}

__global__ void shortestWorkList(int* distance, int* later, unsigned* count, const int* work, const int* row,
                                 const int* column, const int* weight, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  int v = work[i], own = loadStrongly(&distance[v]);
  for (int e = row[v]; e < row[v + 1]; e++)
    if (atomicMin(&distance[column[e]], own + weight[e]) > own + weight[e]) later[atomicAdd(count, 1u)] = column[e];
}

// Each edge belongs to one row.
__global__ void countEdges(int* uses, const int* row, int n) {
  int v = blockIdx.x * blockDim.x + threadIdx.x;
  if (v >= n) return;
  for (int e = row[v]; e < row[v + 1]; e++) uses[e] = uses[e] + 1;
}

// The last iteration takes the first edge of the next row.
__global__ void countEdgesOneTooMany(int* uses, const int* row, int n) {
  int v = blockIdx.x * blockDim.x + threadIdx.x;
  if (v >= n) return;
  for (int e = row[v]; e <= row[v + 1]; e++)
    uses[e] = uses[e] + 1;
}

__device__ int distanceOf1000[1000];

__global__ void resetDistances(int value) {
  int v = blockIdx.x * blockDim.x + threadIdx.x;
  if (v < 1000) distanceOf1000[v] = value;
}

__global__ void resetDistancesUnguarded(int value) {
  int v = blockIdx.x * blockDim.x + threadIdx.x;
  distanceOf1000[v] = value;
}

void traverse(int* a, int* b, unsigned* count, const int* c, const int* row, const int* column, const int* weight) {
  bfsTwoArrays<<<16, 256>>>(a, c, row, column, 4000, 1);
  bfsInPlace<<<16, 256>>>(a, row, column, 4000, 1);
  bfsPlainOwnLevel<<<16, 256>>>(a, row, column, 4000, 0);
  bfsStrongOwnLevel<<<16, 256>>>(a, row, column, 4000, 1);
  bfsWorkList<<<16, 256>>>(a, b, count, c, row, column, 4000, 2);
  bfsWorkListPlainSlot<<<16, 256>>>(a, b, count, c, row, column, 4000, 2);
  bfsWorkListBlockScope<<<16, 256>>>(b, count, c, 4000);
  bfsWorkListOfWarps<<<16, 256>>>(b, count, c, 4000);
  bfsWorkListOfBlocks<<<16, 256>>>(b, count, c, 4000);
  bfsWorkListOfBlocksNoReset<<<16, 256>>>(b, count, c, 4000);
  shortestTwoArrays<<<16, 256>>>(a, c, row, column, weight, 4000);
  shortestPlainMinimum<<<16, 256>>>(a, c, row, column, weight, 4000);
  shortestOfEdges<<<16, 256>>>(a, row, column, weight, 4000);
  shortestOfEdgesPlainLoad<<<16, 256>>>(a, row, column, weight, 4000);
  shortestWorkList<<<16, 256>>>(a, b, count, c, row, column, weight, 4000);
  countEdges<<<16, 256>>>(a, row, 4000);
  countEdgesOneTooMany<<<16, 256>>>(a, row, 4000);
  resetDistances<<<4, 256>>>(7);
  resetDistancesUnguarded<<<4, 256>>>(7);
}
