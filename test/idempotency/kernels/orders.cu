// Reads and writes of the same bytes in one launch.

// launch: block=64 grid=1..3 p[threads] x[threads]
__global__ void writeThenRead(int *p, int *x) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  p[i] = i;
  __syncthreads();
  x[i] = p[i];
}

// launch: block=64 grid=1..3 scratch[threads] out[threads]
__global__ void rotateThroughGlobal(int *scratch, int *out) {
  int base = blockIdx.x * blockDim.x;
  scratch[base + threadIdx.x] = threadIdx.x * 3 + blockIdx.x;
  __syncthreads();
  out[base + threadIdx.x] = scratch[base + (threadIdx.x + 1) % blockDim.x];
}

// launch: block=64 grid=1..3 in[threads] scratch[threads] out[threads]
__global__ void reverseThroughGlobal(const int *in, int *scratch, int *out) {
  int base = blockIdx.x * blockDim.x;
  scratch[base + threadIdx.x] = 2 * in[base + threadIdx.x];
  __syncthreads();
  out[base + threadIdx.x] = scratch[base + blockDim.x - 1 - threadIdx.x];
}

// launch: block=64 grid=1..3 data[threads]
__global__ void reverseBlocksInPlace(int *data) {
  __shared__ int s[64];
  int base = blockIdx.x * blockDim.x;
  s[threadIdx.x] = data[base + threadIdx.x];
  __syncthreads();
  data[base + threadIdx.x] = s[blockDim.x - 1 - threadIdx.x];
}

// launch: block=64 grid=1..3 data[threads] saved[threads]
__global__ void changeAndRestore(int *data, int *saved) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  int x = data[i];
  data[i] = x + 7;
  __syncthreads();
  saved[i] = x;
  data[i] = x;
}

// launch: block=64 grid=1..3 a[threads]
__global__ void copyOntoItself(int *a) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  int x = a[i];
  __syncthreads();
  a[i] = x;
}

// launch: block=64 grid=1..3 out[threads]
__global__ void sharedWithoutWriting(int *out) {
  __shared__ int s[64];
  if (threadIdx.x < 32) s[threadIdx.x] = threadIdx.x;
  __syncthreads();
  out[blockIdx.x * blockDim.x + threadIdx.x] = s[threadIdx.x];
}

// launch: block=64 n~size grid=cover(n,64) state[n] next[n]
__global__ void doubleBuffer(int *state, int *next, int n, int phase) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  int *from = phase ? next : state, *to = phase ? state : next;
  if (i < n) to[i] = from[i] + 1;
}

// launch: block=32 grid=1..3 steps~1..4 a[threads]
__global__ void accumulateInGlobal(int *a, int steps) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  a[i] = 0;
  for (int k = 0; k < steps; k++) {
    __syncthreads();
    a[i] = a[i] + k;
  }
}

// launch: block=64 grid=1..4 total[1]!zero in[threads]
__global__ void countIntoOne(int *total, const int *in) {
  if (in[blockIdx.x * blockDim.x + threadIdx.x] > 40) atomicAdd(total, 1);
}

// launch: block=64 grid=1..4 most[1]!zero in[threads]
__global__ void maximumIntoOne(int *most, const int *in) {
  atomicMax(most, in[blockIdx.x * blockDim.x + threadIdx.x]);
}

// launch: block=64 grid=1..4 bits[threads/32]!zero in[threads]
__global__ void markBits(unsigned *bits, const int *in) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (in[i] & 1) atomicOr(&bits[i / 32], 1u << (i % 32));
}

// launch: block=64 grid=1..4 slots[threads] counter[1]!zero in[threads]
__global__ void compactByCounter(int *slots, int *counter, const int *in) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (in[i] > 60) slots[atomicAdd(counter, 1)] = in[i];
}

// launch: block=64 grid=1..3 out[threads]
__global__ void readClock(long long *out) {
  out[blockIdx.x * blockDim.x + threadIdx.x] = clock64();
}

// launch: block=64 grid=2..4 in[threads] partial[blocks] count[1]!zero out[1]
__global__ void lastBlockSums(const int *in, volatile int *partial, unsigned *count, int *out) {
  __shared__ int s[64];
  __shared__ bool isLast;
  s[threadIdx.x] = in[blockIdx.x * blockDim.x + threadIdx.x];
  __syncthreads();
  if (threadIdx.x == 0) {
    int sum = 0;
    for (int k = 0; k < blockDim.x; k++) sum += s[k];
    partial[blockIdx.x] = sum;
    __threadfence();
    isLast = atomicInc(count, gridDim.x - 1) == gridDim.x - 1;
  }
  __syncthreads();
  if (isLast && threadIdx.x == 0) {
    int sum = 0;
    for (int k = 0; k < gridDim.x; k++) sum += partial[k];
    *out = sum;
  }
}

// launch: block=64 grid=1..3 in[threads] out[blocks]
__global__ void sumByVolatile(const int *in, int *out) {
  __shared__ volatile int s[64];
  int t = threadIdx.x;
  s[t] = in[blockIdx.x * 64 + t];
  __syncthreads();
  for (int by = 32; by > 0; by /= 2) {
    if (t < by) s[t] = s[t] + s[t + by];
    __syncthreads();
  }
  if (t == 0) out[blockIdx.x] = s[0];
}

// launch: block=64 grid=1..3 in[threads] out[threads]
__global__ void neighbourByVolatile(const int *in, int *out) {
  __shared__ volatile int s[65];
  int t = threadIdx.x;
  s[t] = in[blockIdx.x * 64 + t];
  out[blockIdx.x * 64 + t] = s[(t + 1) % 64];
}

// launch: block=64 grid=1..3 in[threads] out[threads] flag[1]!zero
__global__ void waitForFlag(const int *in, volatile int *out, volatile int *flag) {
  int i = blockIdx.x * 64 + threadIdx.x;
  if (i == 0) {
    out[1] = in[0] + out[1];
    __threadfence();
    *flag = 1;
  }
  if (i == 1) {
    while (*flag == 0) {
    }
    __threadfence();
    out[0] = out[1];
  }
}

// launch: block=64 grid=1..3 a[threads]
__global__ void incrementByVolatile(volatile int *a) {
  a[blockIdx.x * 64 + threadIdx.x] += 1;
}

// launch: block=64 grid=1..3 a[threads] b[threads]
__global__ void copyByVolatile(const volatile int *a, volatile int *b) {
  int i = blockIdx.x * 64 + threadIdx.x;
  b[i] = a[i] + 1;
}

// launch: block=64 grid=1..3 a[threads]
__global__ void shiftByVolatile(volatile int *a) {
  int i = blockIdx.x * 64 + threadIdx.x;
  a[i] = a[i + 1 < gridDim.x * 64 ? i + 1 : 0] + 1;
}
