// Reads and writes of one array that overlap within a thread, or across synchronisation of threads.

// launch: block=64 n~2..150 grid=cover(n,64) x[n]
__global__ void swapPairs(int *x, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (2 * i + 1 >= n) return;
  int first = x[2 * i];
  x[2 * i] = x[2 * i + 1];
  x[2 * i + 1] = first;
}

// launch: block=8,8 n~2..16 grid=cover(n,8),cover(n,8) m[n*n]
__global__ void lowerFromUpperWithDiagonal(int *m, int n) {
  int c = blockIdx.x * blockDim.x + threadIdx.x, r = blockIdx.y * blockDim.y + threadIdx.y;
  if (c < n && r <= c) m[c * n + r] = m[r * n + c] + 1;
}

// launch: block=8,8 n~2..16 grid=cover(n,8),cover(n,8) m[n*n]
__global__ void lowerFromUpperPlusOne(int *m, int n) {
  int c = blockIdx.x * blockDim.x + threadIdx.x, r = blockIdx.y * blockDim.y + threadIdx.y;
  if (c < n && r < c) m[c * n + r] = m[r * n + c] + 1;
}

// launch: block=64 n~1..100 grid=cover(n,64) a[2*n]
__global__ void eachHalfFromTheOther(int *a, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  for (int k = 0; k < 2; k++) a[i + k * n] = a[i + (1 - k) * n] + 1;
}

// launch: block=64 grid=1..3 a[threads]
__global__ void neighbourBehindBarrier(int *a) {
  int base = blockIdx.x * blockDim.x, x = a[base + (threadIdx.x ^ 1)];
  __syncthreads();
  a[base + threadIdx.x] = x + 1;
}

// launch: block=64 grid=1..3 a[threads]
__global__ void neighbourBehindWarpBarrier(int *a) {
  int base = blockIdx.x * blockDim.x, x = a[base + (threadIdx.x ^ 1)];
  __syncwarp();
  a[base + threadIdx.x] = x + 1;
}

// launch: block=64 grid=1..3 a[threads]
__global__ void swapByShuffle(int *a) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  a[i] = __shfl_xor_sync(~0u, a[i], 1);
}

// launch: block=64 grid=1..3 m~0..1 a[2*threads]
__global__ void fartherByLaunch(int *a, int m) {
  int i = blockIdx.x * blockDim.x + threadIdx.x, all = gridDim.x * blockDim.x;
  a[i + all * m] = a[i] + 1;
}

// launch: block=64 n~size grid=cover(n,64) a[n]
__global__ void upperHalfAgain(int *a, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) ((short *)a)[2 * i + 1] = (short)((a[i] >> 16) + 1);
}

// launch: block=64 n~size grid=cover(n,64) a[n]
__global__ void upperHalfFromLower(int *a, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) ((short *)a)[2 * i + 1] = ((short *)a)[2 * i] * 3;
}

// launch: block=64 n~2..150 grid=cover(n,64) a[n+1] turn~0..1
__global__ void evenOrOdd(int *a, int turn, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (2 * i + turn + 1 <= n) a[2 * i + turn] = a[2 * i + 1 - turn] + 1;
}

// launch: block=8,8 n~3..16 grid=cover(n,8),cover(n,8) a[n*n] colour~0..1 step~0..2
__global__ void colouredByStep(int *a, int n, int colour, int step) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x + step < n && y < n && (x + y) % 2 == colour) a[y * n + x] = a[y * n + x + step] + 1;
}

// launch: block=32 rounds~1..4 grid=1..3 a[8*threads]
__global__ void lastOfOwnRow(int *a, int rounds) {
  int *row = a + 8 * (blockIdx.x * blockDim.x + threadIdx.x);
  int sum = 0;
  for (int k = 0; k < rounds; k++) sum += row[k];
  row[4] = sum + 1;
}

// launch: block=32 rounds~1..7 grid=1..3 a[8*threads]
__global__ void withinOwnRow(int *a, int rounds) {
  int *row = a + 8 * (blockIdx.x * blockDim.x + threadIdx.x);
  int sum = 0;
  for (int k = 0; k < rounds; k++) sum += row[k];
  row[4] = sum + 1;
}

// launch: block=64 n~2..150 grid=cover(n,64) x[n]
__global__ void maximumWithPrevious(int *x, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (2 * i + 1 < n) x[2 * i + 1] = max(x[2 * i + 1], x[2 * i]);
}

// launch: block=64 n~2..150 grid=cover(n,64) x[n]
__global__ void maximumAndSuccessor(int *x, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (2 * i + 1 >= n) return;
  int most = max(x[2 * i], x[2 * i + 1]);
  x[2 * i] = most;
  x[2 * i + 1] = most + 1;
}

// launch: block=64 n~2..150 grid=cover(n,64) off~0..3 x[4*n+4]
__global__ void maximumWithOffset(int *x, int off, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) x[4 * i] = max(x[4 * i], x[4 * i + off] + 1);
}

// launch: block=64 grid=1..3 x[threads+1]
__global__ void maximumOfNeighbours(int *x) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  x[i] = max(x[i], x[i + 1]);
}

// launch: block=32 grid=1..3 to[4]!ptr(out,40) out[160] from[4]!ptr(in,40) in[160]
// selvage: assume(apart(to[*])) assume(apart(from[*]))
__global__ void copyThroughPointers(int *const *to, int *out, const int *const *from, const int *in) {
  to[blockIdx.x][threadIdx.x] = from[blockIdx.x][threadIdx.x] + 1;
}

// launch: block=32 grid=1..3 table[4]!ptr(pool,40) pool[160]
// selvage: assume(apart(table[*]))
__global__ void doubleThroughPointers(int *const *table, int *pool) {
  table[blockIdx.x][threadIdx.x] *= 2;
}

// launch: block=16 grid=1..3 table[4]!ptr(pool,40) pool[160]
// selvage: assume(apart(table[*]))
__global__ void rightFromLeftThroughPointers(int *const *table, int *pool) {
  int *row = table[blockIdx.x];
  row[threadIdx.x + 16] = row[threadIdx.x] + 1;
}

// launch: block=32 grid=1..3 table[4]!ptr(pool,40) pool[160]
// selvage: assume(apart(table[*]))
__global__ void nextThroughPointers(int *const *table, int *pool) {
  table[blockIdx.x][threadIdx.x] = table[blockIdx.x + 1][threadIdx.x] + 1;
}

// launch: block=32 grid=1 which~0..2 table[4]!ptr(pool,40) pool[160]
// selvage: assume(apart(table[*]))
__global__ void firstFromWhich(int *const *table, int *pool, int which) {
  table[0][threadIdx.x] = table[which][threadIdx.x] + 1;
}

// launch: block=32 grid=1..3 table[4]!ptr(pool,40) pool[160] out[threads]
// selvage: assume(apart(table[*]))
__global__ void outFromPointers(int *const *table, int *pool, int *out) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  out[i] = table[blockIdx.x][threadIdx.x] + 1;
}
