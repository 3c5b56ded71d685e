// Kernels against the rules: widths, wraps, paths and shapes of blocks that violate the premises of a rule.

// launch: block={32,64,96} grid=1..3 a[2*threads+130] k~0..65
__global__ void offsetNearBlock(int *a, int k) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  a[i] = a[i + 64 + k] + 1;
}

// launch: block=64 grid=1..3 a[threads+70] k~0..65
__global__ void offsetByUnsigned(int *a, unsigned k) {
  unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  a[i + 65] = a[i + 65 - k] + 1;
}

// launch: block=64 grid=1..2 a[2*threads+8] k~0..3
__global__ void wideReadNarrowWrite(int *a, int k) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  int2 v = ((int2 *)a)[i];
  a[2 * i + k] = v.x + v.y;
}

// launch: block=64 grid=1..2 a[4*threads] k~0..1
__global__ void wideWriteNarrowRead(int *a, int k) {
  int i = blockIdx.x * blockDim.x + threadIdx.x, v = a[4 * i + 2 * k];
  ((int2 *)a)[2 * i + 1] = make_int2(v + 1, v);
}

// launch: block=64 grid=1..2 a[8*threads] k~0..7
__global__ void bytesOfWords(unsigned char *a, int k) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  a[8 * i + k] = (unsigned char)(((unsigned *)a)[2 * i] + 1);
}

// launch: block=64 grid=1..2 first~0..1 a[threads+1]
__global__ void oneOfTwoPlaces(int *a, int first) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  int j = first ? i : i + 1;
  a[i] = a[j] + 1;
}

// launch: block=64 grid=1..2 a[2*threads]
__global__ void selectedByParity(int *a) {
  int i = blockIdx.x * blockDim.x + threadIdx.x, j = i & 1 ? 2 * i : 2 * i + 1;
  a[2 * i] = a[j] + 1;
}

// launch: block=64 grid=1..2 steps~1..3 a[4*threads]
__global__ void roundsBeforeTheWrite(int *a, int steps) {
  int *own = a + 4 * (blockIdx.x * blockDim.x + threadIdx.x), sum = 0;
  for (int k = 0; k < steps; k++) sum += own[k + 1];
  own[0] = sum;
  own[3] = own[0] + 1;
}

// launch: block=64 grid=1..2 steps~1..3 a[4*threads]
__global__ void writeOfLastRound(int *a, int steps) {
  int *own = a + 4 * (blockIdx.x * blockDim.x + threadIdx.x), k = 0, sum = 0;
  for (; k < steps; k++) sum += own[k];
  own[k] = sum + 1;
}

// launch: block=64 grid=1..2 steps~1..3 a[4*threads]
__global__ void writeOfRoundBefore(int *a, int steps) {
  int *own = a + 4 * (blockIdx.x * blockDim.x + threadIdx.x), k = 0, sum = 0;
  for (; k < steps; k++) sum += own[k];
  own[k - 1] = sum + 1;
}

// launch: block=64 grid=1..2 steps~1..3 a[4*threads]
__global__ void forwardInOwnRow(int *a, int steps) {
  int *own = a + 4 * (blockIdx.x * blockDim.x + threadIdx.x);
  for (int k = 0; k < steps; k++) own[k] = own[k + 1] + 1;
}

// launch: block=64 grid=1..2 steps~1..3 a[4*threads]
__global__ void backwardInOwnRow(int *a, int steps) {
  int *own = a + 4 * (blockIdx.x * blockDim.x + threadIdx.x);
  for (int k = 0; k < steps; k++) own[k + 1] = own[k] + 1;
}

// launch: block=64 grid=1..2 a[threads] b[threads]
__global__ void readBehindOtherWrite(int *a, int *b) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  int v = a[i ^ 1];
  b[i] = v;
  __syncthreads();
  a[i] = b[i] + 1;
}

// launch: block=8,8 n~1..14 m~1..14 grid=cover(n,8),cover(m,8) a[n*m+n+m]
__global__ void transposedPlaces(int *a, int n, int m) {
  int x = blockIdx.x * 8 + threadIdx.x, y = blockIdx.y * 8 + threadIdx.y;
  if (x < n && y < m && x < y) a[x * m + y] = a[y * n + x] + 1;
}

// launch: block=8,8 n~1..14 grid=cover(n,8),cover(n,8) a[n*n]
__global__ void mirroredRows(int *a, int n) {
  int x = blockIdx.x * 8 + threadIdx.x, y = blockIdx.y * 8 + threadIdx.y;
  if (x < n && y < n && y < n / 2) a[(n - 1 - y) * n + x] = a[y * n + x] + 1;
}

// launch: block=8,8 n~1..14 grid=cover(n,8),cover(n,8) a[n*n]
__global__ void mirroredRowsWithMiddle(int *a, int n) {
  int x = blockIdx.x * 8 + threadIdx.x, y = blockIdx.y * 8 + threadIdx.y;
  if (x < n && y < n && y <= n / 2) a[(n - 1 - y) * n + x] = a[y * n + x] + 1;
}

// launch: block={32,64} grid=1..2 w~1..70 h~1..3 ld~1..80 a[4*80+80]
__global__ void rowsByThreads(int *a, int w, int h, int ld) {
  for (int y = blockIdx.x; y < h; y += gridDim.x)
    for (int x = threadIdx.x; x < w; x += blockDim.x) a[y * ld + x] = x + y;
}

// launch: block=16 grid=1..4 by~{8,15,16,17} a[4*17+16]
__global__ void tilesOfStep(int *a, int by) {
  int2 *tile = (int2 *)(a + 2 * (by / 2) * blockIdx.x);
  if (threadIdx.x < 8) tile[threadIdx.x] = make_int2(blockIdx.x, threadIdx.x);
}

// launch: block=32 grid=1..2 k~{1,2,3,67108864,134217728} a[threads*3+8]
__global__ void indexThatWraps(int *a, unsigned k) {
  unsigned i = blockIdx.x * blockDim.x + threadIdx.x, j = i * k;
  if (j < 192) a[j] = i;
}

// launch: block=32 grid=1..2 k~0..3 a[threads*3+8]
__global__ void indexOfShort(int *a, int k) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  short j = (short)(i * k);
  a[j] = i;
}

// launch: block=32 grid=1..2 k~0..70 a[128]
__global__ void indexOfByte(int *a, int k) {
  unsigned char j = (unsigned char)(blockIdx.x * blockDim.x + threadIdx.x + 4 * k);
  if (j < 128) a[j] = k + 1;
}

// launch: block=32 grid=1..2 k~1..3 m~1..40 a[200]
__global__ void remainderOfMultiple(int *a, int k, int m) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  a[(i * k) % m] = i;
}

// launch: block=32 grid=1..2 m~1..40 a[200]
__global__ void digitsSwapped(int *a, int m) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  a[(i % 8) * 8 + i / 8] = m + i;
}

// launch: block=32 grid=1..2 a[200]
__global__ void digitsThatMeet(int *a) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  a[(i % 8) * 4 + i / 8] = i;
}

// launch: block=64 grid=1..2 r~0..3 a[threads+4]
__global__ void everyFourthFromNext(int *a, unsigned r) {
  unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if ((i + r) % 4 == 0) a[i] = a[i + 4 - r] + 1;
}

// launch: block=8,8 grid=1..2,1..2 r~0..1 by~0..2 a[600]
__global__ void chequeredByStep(int *a, int r, int by) {
  int x = blockIdx.x * 8 + threadIdx.x, y = blockIdx.y * 8 + threadIdx.y;
  if (((x + y) & 1) == r) a[y * 20 + x] = a[(y + by) * 20 + x + 1] + 1;
}

// launch: block=64 grid=1..2 lo~-70..70 hi~-70..70 a[threads+200]
__global__ void signsOfThree(int *a, int lo, int hi) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (((i - lo) | (hi - i) | (i - 5)) < 0) return;
  a[i] = a[i + 40] + 1;
}

// launch: block=64 grid=1..2 lo~-70..70 hi~-70..70 a[threads+200]
__global__ void signsThatMayFail(int *a, int lo, int hi) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (((i - lo) & (hi - i)) >= 0) a[i] = a[i + 40] + 1;
}

// launch: block=64 n~2..150 grid=cover(n,64) x[n]
__global__ void clampByNeighbour(int *x, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (3 * i + 2 < n) x[3 * i] = min(max(x[3 * i], x[3 * i + 1]), x[3 * i + 2]);
}

// launch: block=64 n~2..150 grid=cover(n,64) x[n]
__global__ void maximumOfTwoNeighbours(int *x, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (3 * i + 2 < n) x[3 * i] = max(max(x[3 * i], x[3 * i + 1]), x[3 * i + 2]);
}

// launch: block=64 n~2..150 grid=cover(n,64) x[n]
__global__ void sumWithNeighbour(int *x, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (2 * i + 1 < n) x[2 * i] = max(x[2 * i], x[2 * i] - x[2 * i + 1]);
}

// launch: block=64 n~2..150 grid=cover(n,64) x[n]
__global__ void chosenByNeighbour(int *x, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (2 * i + 1 < n) x[2 * i] = x[2 * i + 1] > 40 ? x[2 * i] : 7;
}

// launch: block=64 n~2..150 grid=cover(n,64) x[n]
__global__ void incrementedByNeighbour(int *x, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (2 * i + 1 < n && x[2 * i + 1] > 40) x[2 * i] = x[2 * i] + 1;
}

// launch: block=32 grid=1..3 table[4]!ptr(pool,40) pool[160] by~0..3
// selvage: assume(apart(table[*]))
__global__ void ownThroughPointers(int *const *table, int *pool, int by) {
  int *row = table[blockIdx.x];
  row[threadIdx.x] = row[threadIdx.x + by] + 1;
}

// launch: block=32 grid=1..3 table[4]!ptr(pool,40) pool[160] n~0..3
// selvage: assume(apart(table[*]))
__global__ void lastPointerOfLoop(int *const *table, int *pool, int n) {
  int sum = 0;
  for (int k = 0; k < n; k++) sum += table[k][threadIdx.x];
  table[n][threadIdx.x] = sum + blockIdx.x * 0;
}

// launch: block=64 grid=1..3 a[threads+64] off~0..70
__global__ void volatileFromOffset(volatile int *a, int off) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  a[i] = a[i + off] + 1;
}

// launch: block=64 grid=1..3 in[threads] out[blocks]
__global__ void warpSumWithoutBarrier(const int *in, int *out) {
  __shared__ volatile int s[64];
  int t = threadIdx.x;
  s[t] = in[blockIdx.x * 64 + t];
  __syncthreads();
  if (t < 32) {
    s[t] += s[t + 32];
    s[t] += s[t + 16];
  }
  if (t == 0) out[blockIdx.x] = s[0];
}

// launch: block=64 grid=1..3 in[threads] out[blocks]
__global__ void warpSumOfUnwritten(const int *in, int *out) {
  __shared__ volatile int s[64];
  int t = threadIdx.x;
  if (t < 48) s[t] = in[blockIdx.x * 64 + t];
  __syncthreads();
  if (t < 32) out[blockIdx.x] = s[63];
}

// launch: block=64 n~size grid=cover(n,64) in[n] out[n]
__global__ void sinesAndCosines(const float *in, float *out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = sinf(100000.0f * in[i]) + cosf(in[i]);
}

// launch: block=64 n~size grid=cover(n,64) in[n] out[n] k~0..7
__global__ void tableOfThread(const int *in, int *out, int k, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  int t[8];
#pragma unroll 1
  for (int j = 0; j < 8; j++) t[j] = in[i] + j;
  out[i] = t[(in[i] + k) & 7] + t[k];
}

// launch: block=64 n~size grid=cover(n,64) in[n] out[n] k~0..7
__global__ void tableOfThreadInPart(const int *in, int *out, int k, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  int t[8];
#pragma unroll 1
  for (int j = 0; j < 7; j++) t[j] = in[i] + j;
  out[i] = t[(in[i] + k) & 7] + t[k];
}

// launch: block=64 n~size grid=cover(n,64) in[n] out[n] k~0..7
__global__ void tableOfThreadOnCondition(const int *in, int *out, int k, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  int t[8];
  if (k > 3)
#pragma unroll 1
    for (int j = 0; j < 8; j++) t[j] = in[i] + j;
  out[i] = t[(in[i] + k) & 7];
}

// launch: block=64 n~size grid=cover(n,64) in[n] out[n] k~0..7
__global__ void tableOfThreadInBytes(const int *in, int *out, int k, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  int t[8];
#pragma unroll 1
  for (int j = 0; j < 8; j++) ((short *)t)[2 * j] = (short)(in[i] + j);
  out[i] = t[(in[i] + k) & 7];
}
