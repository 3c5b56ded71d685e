// Addresses and conditions that depend on contents of memory. Statements are facts that the authors know.

// launch: block=64 n~size m~1..60 grid=cover(n,64) index[n]<m table[m] out[n]
// selvage: assume(index[*] in 0..m - 1)
__global__ void gather(const int *index, const float *table, float *out, int n, int m) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = table[index[i]];
}

// launch: block=64 n~size grid=cover(n,64) index[n]!perm in[n] out[n]
// selvage: assume(index[*] in 0..n - 1) assume(distinct(index))
__global__ void scatter(const int *index, const float *in, float *out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[index[i]] = in[i];
}

// launch: block=32 rows~1..6 w~1..40 vocabulary~1..9 grid=rows ids[rows]<vocabulary table[vocabulary*w] out[rows*w]
// selvage: assume(ids[*] in 0..vocabulary - 1)
__global__ void embedding(const int *ids, const float *table, float *out, int w, int vocabulary) {
  for (int c = threadIdx.x; c < w; c += blockDim.x) out[blockIdx.x * w + c] = table[ids[blockIdx.x] * w + c];
}

// launch: block=64 n~size m~1..60 grid=cover(n,64) index[n]<m out[m]!zero in[n]
// selvage: assume(index[*] in 0..m - 1)
__global__ void scatterAdd(const int *index, int *out, const int *in, int n, int m) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) atomicAdd(&out[index[i]], in[i]);
}

// launch: block=64 n~size grid=cover(n,64) flags[n]!flags in[n] out[n]
__global__ void copyWhereFlagged(const int *flags, const float *in, float *out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n && flags[i]) out[i] = in[i];
}

// launch: block=64 n~size grid=cover(n,64) enabled[1]!zero in[n] x[n]
// selvage: assume(enabled[*] in 0..0)
__global__ void updateWhereEnabled(const int *enabled, const float *in, float *x, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  if (*enabled) x[i] += in[i];
}

// launch: block=64 n~size grid=cover(n,64) flag[n]!flags in[n] x[n]
__global__ void updateWhereFlagged(const int *flag, const float *in, float *x, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n && flag[i]) x[i] += in[i];
}

// launch: block=32 rows~1..40 grid=cover(rows,32) start[rows+1]^3 column[3*rows]<rows value[3*rows] x[rows] y[rows]
// selvage: assume(start[*] in 0..3 * rows) assume(column[*] in 0..rows - 1)
__global__ void sparseProduct(const int *start, const int *column, const float *value, const float *x, float *y, int rows) {
  int r = blockIdx.x * blockDim.x + threadIdx.x;
  if (r >= rows) return;
  float sum = 0;
  for (int k = start[r]; k < start[r + 1]; k++) sum += value[k] * x[column[k]];
  y[r] = sum;
}

// launch: block=32 nodes~1..40 level=0 grid=cover(nodes,32) start[nodes+1]^3 edge[3*nodes]<nodes distance[nodes]!levels changed[1]!zero
// selvage: assume(start[*] in 0..3 * nodes) assume(edge[*] in 0..nodes - 1)
__global__ void bfsLevel(const int *start, const int *edge, int *distance, int *changed, int nodes, int level) {
  int v = blockIdx.x * blockDim.x + threadIdx.x;
  if (v >= nodes || distance[v] != level) return;
  for (int k = start[v]; k < start[v + 1]; k++)
    if (atomicCAS(&distance[edge[k]], -1, level + 1) == -1) *changed = 1;
}

// launch: block=32 nodes~1..40 level=0 grid=cover(nodes,32) start[nodes+1]^3 edge[3*nodes]<nodes distance[nodes]!levels next[nodes]
// selvage: assume(start[*] in 0..3 * nodes) assume(edge[*] in 0..nodes - 1)
__global__ void bfsPull(const int *start, const int *edge, const int *distance, int *next, int nodes, int level) {
  int v = blockIdx.x * blockDim.x + threadIdx.x;
  if (v >= nodes) return;
  int d = distance[v];
  if (d < 0)
    for (int k = start[v]; k < start[v + 1]; k++)
      if (distance[edge[k]] == level) d = level + 1;
  next[v] = d;
}

// launch: block=32 grid=1..4 w~1..40 from[4]!ptr(pool,40) pool[160] out[blocks*w]
// selvage: assume(w <= 40) assume(apart(from[*]))
__global__ void batchedPointers(const float *const *from, const float *pool, float *out, int w) {
  const float *row = from[blockIdx.x];
  for (int c = threadIdx.x; c < w; c += blockDim.x) out[blockIdx.x * w + c] = 2.0f * row[c];
}

// launch: block=32 pp[1]!ptr(p,0) p[8] grid=1
// selvage: assume(apart(pp[*]))
__global__ void storeThroughPointer(int **pp, int *p) {
  if (threadIdx.x == 0) **pp = 5;
}

// launch: block=64 n~size grid=cover(n,64) cp[1]!flags dp[n] x[n]
__global__ void readOnCondition(const int *cp, const int *dp, int *x, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  int v = 3;
  if (*cp) v = dp[i];
  x[i] = v;
}

// launch: block=64 n~size grid=cover(n,64) positions[n]!ranks in[n] out[n]
// selvage: assume(positions[*] in 0..n - 1) assume(distinct(positions))
__global__ void compactByRanks(const int *positions, const int *in, int *out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n && in[i] >= 0) out[positions[i]] = in[i];
}

// launch: block=64 n~size grid=cover(n,64) next[n]<n out[n]
// selvage: assume(next[*] in 0..n - 1)
__global__ void jumpPointers(const int *next, int *out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = next[next[i]];
}

// launch: block=64 n~size grid=cover(n,64) parent[n]<n
// selvage: assume(parent[*] in 0..n - 1)
__global__ void jumpPointersInPlace(int *parent, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) parent[i] = parent[parent[i]];
}

typedef float (*Activation)(float);
__device__ __noinline__ float leaky(float x) { return x > 0 ? x : 0.1f * x; }
__device__ __noinline__ float squared(float x) { return x * x; }
__device__ Activation activations[2] = {leaky, squared};

// launch: block=64 n~size grid=cover(n,64) which~0..1 in[n] out[n]
__global__ void activateIndirectly(int which, const float *in, float *out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = activations[which](in[i]);
}

// launch: block=64 n~size bound~1..90 grid=cover(n,64) sorted[32]!sorted keys[n] out[n]
__global__ void lowerBounds(const int *sorted, const int *keys, int *out, int n, int bound) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  int low = 0, high = 32;
  while (low < high) {
    int middle = (low + high) / 2;
    if (sorted[middle] < keys[i]) low = middle + 1;
    else high = middle;
  }
  out[i] = low;
}
