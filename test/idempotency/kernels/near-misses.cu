// Kernels close to a rule that would call them idempotent: a part that is not covered, a different guard, an
// integer that wraps around, a map that changes again.

// launch: block=64 grid=1..3 p[threads] x[threads]
__global__ void halfWrittenThenRead(int *p, int *x) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (threadIdx.x < 32) p[i] = i;
  __syncthreads();
  int v = p[i];
  x[i] = v;
  __syncthreads();
  p[i] = v + 1;
}

// launch: block=64 grid=1..3 p[threads] x[threads]
__global__ void lowBytesWrittenThenRead(int *p, int *x) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  ((short *)p)[2 * i] = (short)i;
  __syncthreads();
  x[i] = p[i];
  __syncthreads();
  p[i] = x[i] + 65536;
}

// launch: block=64 grid=1..3 w~0..64 p[threads] x[threads]
__global__ void guardedWriteThenRead(int *p, int *x, int w) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (threadIdx.x < w) p[i] = 5;
  __syncthreads();
  x[i] = p[blockIdx.x * blockDim.x + (threadIdx.x * 7) % 64];
  __syncthreads();
  p[i] = 6 + threadIdx.x;
}

// launch: block=64 grid=2..3 p[threads+64] x[threads]
__global__ void readFromNextBlock(int *p, int *x) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  x[i] = p[i + 64];
}

// launch: block=64 grid=1..3 steps~0..3 p[threads] x[threads]
__global__ void writtenInLoopOnly(int *p, int *x, int steps) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  for (int k = 0; k < steps; k++) p[i] = k;
  __syncthreads();
  x[i] = p[i];
  __syncthreads();
  p[i] = 9;
}

// launch: block=64 n~size grid=cover(n,64) x[n]
__global__ void complementInPlace(int *x, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) x[i] = ~x[i];
}

// launch: block=64 n~size grid=cover(n,64) x[n] mask~0..255
__global__ void flipBitsInPlace(int *x, int mask, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) x[i] ^= mask;
}

// launch: block=64 n~size grid=cover(n,64) x[n] by~0..2
__global__ void shiftRightInPlace(int *x, int by, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) x[i] >>= by;
}

// launch: block=64 n~size grid=cover(n,64) x[n]
__global__ void reflectNegatives(int *x, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n && x[i] < 50) x[i] = 90 - x[i];
}

// launch: block=64 n~size grid=cover(n,64) x[n]
__global__ void leakyInPlace(float *x, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) x[i] = fmaxf(x[i], 0.5f * x[i]);
}

// launch: block=64 n~size grid=cover(n,64) x[n]
__global__ void signedByteUnderTest(int *x, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) x[i] = x[i] < 300 ? 5 : (int)(signed char)x[i];
}

// launch: block=64 n~size grid=cover(n,64) x[n] bits~1..255
__global__ void signedByteWithBits(int *x, int bits, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) x[i] = (int)(signed char)x[i] | bits;
}

// launch: block=64 n~size grid=cover(n,64) x[n]
__global__ void unsignedClampOfSigned(signed char *x, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) x[i] = (signed char)min(max((unsigned)(int)x[i], 200u), 210u);
}

// launch: block={32,64,128,256} grid=1..3 x[threads]
__global__ void sharedOfWideBlocks(int *x) {
  __shared__ int s[1024];
  s[threadIdx.x] = blockIdx.x + threadIdx.x;
  __syncthreads();
  x[blockIdx.x * blockDim.x + threadIdx.x] = s[threadIdx.x ^ 128];
}

// launch: block=64 n~size grid=cover(n,64) x[n] low~0..99 high~0..99
__global__ void clampBetween(int *x, int low, int high, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) x[i] = min(max(x[i], low), high);
}

// launch: block=64 n~size grid=cover(n,64) x[n] other[n]
__global__ void maximumWithOther(int *x, const int *other, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) x[i] = max(x[i], other[i]);
}

// launch: block=64 n~2..150 grid=cover(n,64) x[n]
__global__ void maximumWithNext(int *x, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (2 * i + 1 < n) x[2 * i] = max(x[2 * i], x[2 * i + 1]);
}

// launch: block=64 n~2..150 grid=cover(n,64) x[n]
__global__ void sortPairs(int *x, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (2 * i + 1 < n) {
    int a = x[2 * i], b = x[2 * i + 1];
    x[2 * i] = min(a, b);
    x[2 * i + 1] = max(a, b);
  }
}

// launch: block=64 n~size grid=cover(n,64) x[n]
__global__ void roundInPlace(float *x, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) x[i] = rintf(x[i]);
}

// launch: block=64 n~size grid=cover(n,64) x[n]
__global__ void maximumThenAdd(int *x, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) x[i] = max(x[i] + 1, 7);
}

// launch: block=64 n~size grid=cover(n,64) x[n] flags[n]!flags
__global__ void clearOnce(int *x, int *flags, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n && flags[i]) {
    x[i] += 1;
    flags[i] = 0;
  }
}

// launch: block=64 n~size grid=cover(n,64) x[n] seen[n]!flags
__global__ void visitOnce(const int *x, int *seen, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n && x[i] > 40) seen[i] = 1;
}

// launch: block=64 grid=1..3 start~0..255 in[256+threads] out[256]
__global__ void wrapsInBytes(const int *in, int *out, int start) {
  unsigned char i = (unsigned char)(start + blockIdx.x * blockDim.x + threadIdx.x);
  out[i] = in[i + 1];
}

// launch: block=64 grid=1..2 first~-40..40 a[threads+120]
__global__ void backwardsFrom(int *a, int first) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (first >= 0 && first < 40) a[i + first] = 4;
  else if (first < 0) a[i + 40] = a[i + 40 + first];
}

// launch: block=64 stride~1..4 n~1..60 grid=cover(n,64) a[8*n] from~0..5
__global__ void stridesThatMeet(int *a, int stride, int from, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) a[stride * i] = a[4 * n + from + stride * i] + 1;
}

// launch: block=64 n~1..60 offset~0..7 grid=cover(n,64) a[4*n+8]
__global__ void residuesModulo4(int *a, int offset, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) a[4 * i] = a[4 * i + offset];
}

// launch: block=64 n~1..60 offset~0..9 grid=cover(n,64) a[4*n+16]
__global__ void bytesModulo4(unsigned char *a, int offset, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) *(unsigned short *)(a + 4 * i) = a[4 * i + offset] * 3 + 1;
}

// launch: block=8,8 w~1..10 h~1..10 ld~1..10 grid=cover(w,8),cover(h,8) a[ld*h+w+ld] right~0..5
__global__ void columnsOfRows(int *a, int w, int h, int ld, int right) {
  int x = blockIdx.x * 8 + threadIdx.x, y = blockIdx.y * 8 + threadIdx.y;
  if (x < w && y < h && x == 0) a[y * ld] = a[y * ld + right] + 1;
}

// launch: block=32 n~1..30 m~1..30 grid=cover(n,32) a[n+m+30]
__global__ void loopsThatMayMeet(int *a, int n, int m) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  int sum = 0;
  for (int k = m; k < 30; k++) sum += a[n + k];
  a[i + (m > 20 ? 20 : 0)] = sum;
}

// launch: block=32 n~1..40 grid=cover(n,32) a[2*n] parity~0..1
__global__ void parityDecides(int *a, int parity, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= 2 * n) return;
  if (i % 2 == parity) a[i] = 1;
  else if (parity == 0) a[i] = a[i ^ 1] + 2;
}

// launch: block=64 n~size mode~0..3 grid=cover(n,64) a[n] b[n]
__global__ void exclusiveModes(int *a, int *b, int mode, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  int v = 0;
  if (mode != 1) v = a[i];
  if (mode == 1 || mode == 3) a[i] = v + 1;
  else b[i] = v;
}

// launch: block=64 n~1..100 lo~0..50 hi~0..50 grid=cover(n,64) a[n+50]
__global__ void rangesThatMayMeet(int *a, int lo, int hi, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n && i >= lo && i < hi) a[i] = 3 * a[i + 10];
}

// launch: block=64 grid=1..3 a[threads] b[threads]
__global__ void guardByParity(int *a, int *b) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i & 1) a[i] = b[i ^ 1];
  else b[i] = 2;
}

// launch: block=64 grid=1 q~1..9 a[64] out[64]
__global__ void quotientsOfThreads(int *a, int *out, int q) {
  int i = threadIdx.x;
  out[i] = a[i / q];
  if (i % q == 0 && i >= 32) a[i] = 5;
}

// launch: block=32 grid=1..3 table[32] out[threads]
__global__ void tableThroughShared(int *table, int *out) {
  __shared__ int s[32];
  if (threadIdx.x < 31) s[threadIdx.x] = table[threadIdx.x];
  __syncthreads();
  out[blockIdx.x * 32 + threadIdx.x] = s[threadIdx.x];
}

// launch: block=32 grid=1..3 table[32] out[threads]
__global__ void sharedReadAfterLastWrite(const int *table, int *out) {
  __shared__ int s[33];
  s[threadIdx.x] = table[threadIdx.x];
  if (threadIdx.x == 0) s[32] = 1;
  __syncthreads();
  out[blockIdx.x * 32 + threadIdx.x] = s[threadIdx.x + 1];
}

__device__ int generation;
__device__ int history[256];

// launch: block=32 grid=1 out[32]
__global__ void countsLaunches(int *out) {
  out[threadIdx.x] = generation;
  __syncthreads();
  if (threadIdx.x == 0) generation++;
}

// launch: block=64 grid=1..4 out[threads]
__global__ void throughVariable(int *out) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  history[i] = 3 * i;
  __syncthreads();
  out[i] = history[i] + 1;
}

// launch: block=64 grid=1..4 in[threads] out[threads]
__global__ void accumulateInVariable(const int *in, int *out) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  history[i] += in[i];
  out[i] = history[i];
}

// launch: block=64 n~size grid=cover(n,64) in[n] out[n] lock[1]!zero
__global__ void exchangeIntoOne(const int *in, int *out, int *lock, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) {
    out[i] = in[i];
    atomicExch(lock, 1);
  }
}

// launch: block=64 grid=1..4 in[threads] most[1]!zero out[blocks]
__global__ void maximumReadBack(const int *in, int *most, int *out) {
  atomicMax(most, in[blockIdx.x * blockDim.x + threadIdx.x]);
  __syncthreads();
  if (threadIdx.x == 0) out[blockIdx.x] = 1 + *most;
}

// launch: block=64 grid=1..4 in[threads] most[1]!zero out[threads]
__global__ void maximumBefore(const int *in, int *most, int *out) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  out[i] = atomicMax(&most[0], in[i]);
}

// launch: block=64 grid=1..3 bits[4]!zero in[threads]
__global__ void orThenAnd(unsigned *bits, const unsigned *in) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i & 1) atomicOr(&bits[0], in[i]);
  else atomicAnd(&bits[0], ~in[i]);
}

// launch: block=64 n~size grid=cover(n,64) a[n] b[n]
__global__ void swapArrays(int *a, int *b, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  int t = a[i];
  a[i] = b[i];
  b[i] = t;
}

// launch: block=64 n~size grid=cover(n,64) a[n] b[n] c[n]
__global__ void chainOfCopies(int *a, int *b, int *c, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  c[i] = b[i];
  b[i] = a[i];
}

// launch: block=64 n~size grid=cover(n,64) a[n] b[n] c[n]
__global__ void chainOfWrites(const int *a, int *b, int *c, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  b[i] = a[i];
  __threadfence_block();
  c[i] = b[i] + a[i];
}

// launch: block=64 n~size grid=cover(n,64) a[n+1]
__global__ void overlappingStores(short *a, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) a[i] = (short)i;
  __syncthreads();
  if (i < n) a[i] = a[i] + 1;
}

// launch: block=64 n~0..130 grid=1..2 a[130] b[130]
__global__ void unsignedBound(int *a, const int *b, unsigned n) {
  unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i <= n - 1 && i < 130) a[i] = b[i];
}

// launch: block=64 n~size grid=cover(n,64) a[n]
__global__ void lastWins(int *a, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n && a[0] == 123456789) a[i] = a[i] * 2;
}

// launch: block=64 n~2..100 grid=1 a[n]
__global__ void rotateOne(int *a, int n) {
  int first = a[0];
  for (int base = 0; base < n - 1; base += 64) {
    int i = base + threadIdx.x, v = 0;
    if (i < n - 1) v = a[i + 1];
    __syncthreads();
    if (i < n - 1) a[i] = v;
    __syncthreads();
  }
  if (threadIdx.x == 0) a[n - 1] = first;
}

// launch: block=64 steps~1..4 grid=1 a[66] b[66]
__global__ void pingPong(float *a, float *b, int steps) {
  int i = threadIdx.x + 1;
  for (int k = 0; k < steps; k++) {
    b[i] = 0.5f * (a[i - 1] + a[i + 1]);
    __syncthreads();
    float *t = a;
    a = b, b = t;
  }
}

// launch: block=1 grid=1 n~1..30 a[2*n+80]
__global__ void unevenRounds(int *a, int n) {
  int k = 0, at;
  do {
    at = k + ((k * 37) & 20);
    a[at] = a[n + 2 + k] + 1;
    k++;
  } while (at < n);
}

// launch: block=64 grid=1 n~{65536,3} m~{65536,5,40} x[64]
__global__ void guardThatWraps(int *x, unsigned n, unsigned m) {
  if ((int)(n * m) < 100) x[threadIdx.x] += 1;
}

// launch: block=64 grid=1 n~{50000,3} x[64]
__global__ void squareBelowZero(int *x, unsigned n) {
  if ((int)(n * n) < 0) x[threadIdx.x] += 1;
}

// launch: block=64 grid=1 n~{33554432,100663296,3} x[64] y[64]
__global__ void readWhereProductWraps(int *x, const int *y, unsigned n) {
  int i = threadIdx.x, v = 3;
  if ((int)(threadIdx.x * n) < 0) v = y[i] + 1;
  x[i] = v;
}

// launch: block=32 grid=1..2 ld~{1073741820,1,2,8} m~1..1 x[threads]
__global__ void sharedReadByRounds(int *x, unsigned ld, unsigned m) {
  __shared__ int s[256];
  for (int j = 0; j < 8; j++) s[threadIdx.x + 32 * j] = j;
  __syncthreads();
  s[threadIdx.x] = 100 + threadIdx.x;
  int sum = 0;
  if (threadIdx.x < 2)
    for (unsigned k = 0; k < m; k++) sum += s[32 + (threadIdx.x * 4u * m + k) * ld];
  x[blockIdx.x * 32 + threadIdx.x] = sum;
}

// launch: block=32 grid=1..2 ld~{1073741820,1,2} count[1]!ranks x[threads]
__global__ void sharedReadByCount(int *x, const unsigned *count, unsigned ld) {
  __shared__ int s[256];
  for (int j = 0; j < 8; j++) s[threadIdx.x + 32 * j] = j;
  __syncthreads();
  s[threadIdx.x] = 100 + threadIdx.x;
  int sum = 0;
  for (unsigned k = 0; k <= count[0]; k++) sum += s[32 + (threadIdx.x & 1) * 4 * ld + 4 * k * ld];
  x[blockIdx.x * 32 + threadIdx.x] = sum;
}

// launch: block=64 grid=1..3 p[threads] x[threads]
__global__ void writtenOnOnePath(int *p, int *x) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (x[i] > 50) p[i] = 1;
  else x[i] = 3;
  __syncthreads();
  x[i] = p[i] + 60;
}

// launch: block=64 grid=1..3 p[threads] x[threads]
__global__ void writtenOnBothPaths(int *p, const int *x) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (x[i] > 50) p[i] = 1;
  else p[i] = 3;
  __syncthreads();
  p[i] = p[i] + 60;
}
