// expect: visitNeighbours race=proved divergence=proved
// expect: visitNeighbours assumes equal-value-writes
// expect: visitNeighbours silent
// expect: visitNeighboursPlain race=race divergence=proved
// expect: visitNeighboursPlain finding race/global warning on distance lines 32
// expect: relaxEdges race=proved divergence=proved
// expect: relaxEdges silent
// expect: relaxEdgesPlain race=race divergence=proved
// expect: relaxEdgesPlain finding race/global warning on distance lines 52,54
// expect: relaxEdgesWeakLoad race=race divergence=proved
// expect: relaxEdgesWeakLoad finding race/global warning on distance lines 61,62
// expect: relaxEdgesVolatile race=race divergence=proved
// expect: relaxEdgesVolatile finding race/volatile warning on distance lines 68,69
//
// Breadth-first search and shortest paths over a graph in CSR form, a vertex for each thread.

// The thread whose exchange succeeds puts the neighbour into the next frontier. All threads store the same there.
__global__ void visitNeighbours(int* distance, int* next, const int* frontier, const int* row, const int* column, int n,
                                int level) {
  int v = blockIdx.x * blockDim.x + threadIdx.x;
  if (v >= n || frontier[v] == 0) return;
  for (int e = row[v]; e < row[v + 1]; e++)
    if (atomicCAS(&distance[column[e]], 0, level) == 0) next[column[e]] = 1;
}

// Two threads may look at a neighbour before either has stored its distance.
__global__ void visitNeighboursPlain(int* distance, const int* frontier, const int* row, const int* column, int n,
                                     int level) {
  int v = blockIdx.x * blockDim.x + threadIdx.x;
  if (v >= n || frontier[v] == 0) return;
  for (int e = row[v]; e < row[v + 1]; e++)
    if (distance[column[e]] < level) distance[column[e]] = level;
}

__device__ int loadRelaxed(const int* p) {
  int value;
  asm volatile("ld.relaxed.gpu.global.s32 %0, [%1];" : "=r"(value) : "l"(p) : "memory");
  return value;
}

// A strong load may be concurrent with an atomic of another thread.
__global__ void relaxEdges(int* distance, const int* row, const int* column, const int* weight, int n) {
  int v = blockIdx.x * blockDim.x + threadIdx.x;
  if (v >= n) return;
  int own = loadRelaxed(&distance[v]);
  for (int e = row[v]; e < row[v + 1]; e++) atomicMin(&distance[column[e]], own + weight[e]);
}

__global__ void relaxEdgesPlain(int* distance, const int* row, const int* column, const int* weight, int n) {
  int v = blockIdx.x * blockDim.x + threadIdx.x;
  if (v >= n) return;
  int own = distance[v];
  for (int e = row[v]; e < row[v + 1]; e++)
    if (own + weight[e] < distance[column[e]]) distance[column[e]] = own + weight[e];
}

// The atomics have no effect while the own distance is loaded weakly.
__global__ void relaxEdgesWeakLoad(int* distance, const int* row, const int* column, const int* weight, int n) {
  int v = blockIdx.x * blockDim.x + threadIdx.x;
  if (v >= n) return;
  int own = distance[v];
  for (int e = row[v]; e < row[v + 1]; e++) atomicMin(&distance[column[e]], own + weight[e]);
}

__global__ void relaxEdgesVolatile(int* distance, const int* row, const int* column, const int* weight, int n) {
  int v = blockIdx.x * blockDim.x + threadIdx.x;
  if (v >= n) return;
  int own = *(volatile int*)&distance[v];
  for (int e = row[v]; e < row[v + 1]; e++) atomicMin(&distance[column[e]], own + weight[e]);
}

void launchSearch(int* distance, int* next, const int* frontier, const int* row, const int* column, const int* weight) {
  visitNeighbours<<<4, 256>>>(distance, next, frontier, row, column, 1000, 3);
  visitNeighboursPlain<<<4, 256>>>(distance, frontier, row, column, 1000, 3);
  relaxEdges<<<4, 256>>>(distance, row, column, weight, 1000);
  relaxEdgesPlain<<<4, 256>>>(distance, row, column, weight, 1000);
  relaxEdgesWeakLoad<<<4, 256>>>(distance, row, column, weight, 1000);
  relaxEdgesVolatile<<<4, 256>>>(distance, row, column, weight, 1000);
}
