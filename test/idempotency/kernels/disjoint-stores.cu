// Launches whose footprints show that they are race-free, and similar ones in which two threads write one element.

// launch: block=8,8 w~1..8 ld~1..10 grid=1..2,1..2 a[20*ld+20]
__global__ void rowsThatMayOverlap(int *a, int w, int ld) {
  int x = threadIdx.x, y = blockIdx.y * 8 + threadIdx.y;
  if (x < w && blockIdx.x == 0) a[y * ld + x] = y + 1;
}

// launch: block=64 grid=1..2 by~0..2 a[2*threads] b[threads]
__global__ void storesOfStep(short *a, const short *b, int by) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  a[by * i] = b[i];
}

// launch: block=64 grid=1..3 step~{16,32,63,64,80} a[3*80+64] from~0..400
__global__ void blocksOfStep(int *a, int step, int from) {
  a[blockIdx.x * step + threadIdx.x] = blockIdx.x + 1;
}

// launch: block=8,8 grid=1..3 a[24] b[24]
__global__ void secondAxisIgnored(int *a, const int *b) {
  int i = blockIdx.x * 8 + threadIdx.x;
  a[i] = b[i] + threadIdx.y;
}

// launch: block=8,8 grid=1..3 a[24] b[24] off~0..8
__global__ void secondAxisGuarded(int *a, const int *b, int off) {
  int i = blockIdx.x * 8 + threadIdx.x;
  if (threadIdx.y == 0) a[i] = a[(i + off) % 24] + b[i];
}

// launch: block=8,8 grid=1 sum~0..4 a[8]
__global__ void guardOfSum(int *a, int sum) {
  if (threadIdx.x + threadIdx.y == sum) a[0] = threadIdx.x + 1;
}

// launch: block=8,8 grid=1 a[8]
__global__ void guardOfSumZero(int *a) {
  if (threadIdx.x + threadIdx.y == 0) a[threadIdx.x] = a[1] + 1;
}

// launch: block=64 grid=1..3 at~0..5 a[8]
__global__ void oneValueEverywhere(int *a, int at) {
  a[at] = a[7] == 123456 ? 9 : 9;
  a[6] = at;
}

// launch: block=64 grid=1..3 a[8]
__global__ void twoValuesEverywhere(int *a) {
  a[0] = threadIdx.x > 5 ? 1 : 2;
}

// launch: block=8,8 w~1..8 ld~1..10 grid=1 a[10*ld+10] out[64]
__global__ void readsBesideTheGuard(int *a, int *out, int w, int ld) {
  int x = threadIdx.x, y = threadIdx.y, v = a[y * ld + x];
  out[8 * y + x] = v;
  if (x < w) a[y * ld + x] = max(v, 7);
}

// launch: block=64 grid=1..3 m~{1,5,63,64,65,128,200} a[200]
__global__ void remaindersAsIndices(int *a, int m) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  a[i % m] = i;
}

// launch: block=64 grid=1..3 m~1..3 a[200]
__global__ void quotientsAsIndices(int *a, int m) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  a[i / m] = i;
}

// launch: block=64 grid=1..2 s~-2..2 a[600] b[threads]
__global__ void stepsOfEitherSign(int *a, const int *b, int s) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  a[300 + i * s] = b[i] + i;
}

// launch: block=64 grid=1..3 n~0..130 a[200]
__global__ void twoWaysToOneElement(int *a, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x, j = i < n ? i : i - n;
  a[j] = i;
}

// launch: block=64 grid=1..3 a[threads+1]
__global__ void roundedUpToOdd(int *a) {
  int i = blockIdx.x * blockDim.x + threadIdx.x, j = i & 1 ? i : i + 1;
  a[j] = i;
}

// launch: block=64 grid=1..2 m~0..3 a[threads+8] off~0..140
__global__ void roundsIntoNeighbours(int *a, int m, int off) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  for (int k = 0; k < m; k++) a[i + k] = i;
}

// launch: block=32 grid=1..2 n~1..90 step~{16,31,32,63,64,80} a[n] b[n]
__global__ void stridesBelowTheThreads(int *a, const int *b, int n, int step) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  for (int k = i; k < n; k += step) a[k] = b[k] + i;
}

// launch: block=64 grid=1..2 first~0..70 second~0..70 a[threads+200]
__global__ void bothBelowZero(int *a, int first, int second) {
  int i = blockIdx.x * blockDim.x + threadIdx.x, x = i - first, y = i - second;
  if ((x & y) < 0) return;
  a[i] = a[i + 64] + 1;
}

// launch: block=64 grid=1..2 first~0..70 second~0..70 a[threads+200]
__global__ void eitherBelowZero(int *a, int first, int second) {
  int i = blockIdx.x * blockDim.x + threadIdx.x, x = i - first, y = i - second;
  if ((x | y) < 0) return;
  a[i] = a[i - 64 + (first < 64 ? 128 : 0)] + 1;
}

// launch: block=64 grid=1..2 first~0..70 second~0..70 a[threads+200]
__global__ void ofUnlikeSigns(int *a, int first, int second) {
  int i = blockIdx.x * blockDim.x + threadIdx.x, x = i - first, y = i - second;
  if ((x ^ y) < 0) a[i] = a[i + 64] + 1;
}

// launch: block=64 grid=1..2 r~0..2 by~1..3 a[threads+4]
__global__ void everyThird(int *a, int r, int by) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i % 3 == r) a[i] = a[i + by] + 1;
}

// launch: block=64 grid=1..2 r~-1..1 by~1..2 a[threads+4]
__global__ void remaindersBelowZero(int *a, int r, int by) {
  int i = blockIdx.x * blockDim.x + threadIdx.x, j = i - 40;
  if (j % 2 == r) a[i] = a[i + by] + 1;
}

// launch: block=64 grid=1..2 k~{1,3,1431655765,2147483647} by~1..3 a[threads+4]
__global__ void remaindersOfProducts(int *a, unsigned k, int by) {
  unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i * k % 3 == 1) a[i] = a[i + by] + 1;
}

// launch: block=64 grid=1..3 lock[1]!zero
__global__ void exchangeByBlock(int *lock) {
  atomicExch(lock, blockIdx.x);
}

// launch: block=64 grid=1..3 lock[1]!zero
__global__ void exchangeTwoValues(int *lock) {
  if (threadIdx.x & 1) atomicExch(lock, 1);
  else atomicExch(lock, 2);
}

// launch: block=64 grid=1..3 lock[1]!zero value~0..9
__global__ void exchangeTwice(int *lock, int value) {
  if (threadIdx.x & 1) atomicExch(lock, value);
  else atomicExch(lock, value);
}

// launch: block=64 grid=1..3 lock[1]!zero value~0..9 out[threads]
__global__ void exchangeForResult(int *lock, int *out, int value) {
  out[blockIdx.x * blockDim.x + threadIdx.x] = atomicExch(lock, value);
}

// launch: block=64 grid=1..3 lock[1]!zero
__global__ void exchangeAndMaximum(int *lock) {
  if (threadIdx.x & 1) atomicExch(lock, 3);
  else atomicMax(lock, 5);
}

// launch: block=64 n~size grid=cover(n,64) x[n]
__global__ void roundPlusHalf(float *x, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) x[i] = rintf(x[i] + 0.5f);
}

// launch: block=64 n~size grid=cover(n,64) x[n]
__global__ void roundThenHalve(float *x, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) x[i] = 0.5f * rintf(x[i]);
}

// launch: block=64 n~size grid=cover(n,64) x[n]
__global__ void floorInPlace(float *x, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) x[i] = floorf(x[i]);
}

// launch: block=64 n~size grid=cover(n,64) x[n]
__global__ void truncateInPlace(double *x, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) x[i] = trunc(x[i]);
}

// launch: block=64 grid=1..2 n~0..4 a[threads+8] b[threads]
__global__ void largerOfTwo(int *a, const int *b, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x, low = b[i] & 3, high = low + 1;
  int end = max(high, low + 1);
  for (int k = low; k < end; k++) a[i + (n < 3 ? 0 : k)] = i;
}
