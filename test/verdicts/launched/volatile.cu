// expect: handOver race=proved divergence=proved
// expect: handOver assumes initial
// expect: handOver silent
// expect: handOverNoFence race=race divergence=proved
// expect: handOverNoFence finding race/global error on data lines 40,45
// expect: handOverNoFence advice "Add `__threadfence()` before the update of `ready` on line 41 and after the loop on line 43 that waits for `ready`" as in handOver
// expect: countLocked race=proved divergence=proved
// expect: countLocked silent
// expect: countLockedNoFence race=race divergence=proved
// expect: countLockedNoFence finding race/global error on total lines 63
// expect: countLockedNoFence advice "Add `__threadfence()` after acquiring the lock on line 61 and before releasing the lock on line 64" as in countLocked
// expect: stopAtFirst race=race divergence=proved
// expect: stopAtFirst finding race/volatile warning on stop lines 71,72
// expect: stopAtFirst advice "Use `cuda::atomic_ref` or atomic functions for both accesses"
// expect: sumTail race=race divergence=proved
// expect: sumTail finding race/volatile warning on s lines 86
// expect: sumTail advice "Read into a variable, and add `__syncwarp()` before and after the write: `volatile` is not needed then" as in sumTailSynced
// expect: sumTailSynced race=proved divergence=proved
// expect: sumTailSynced silent
//
// Volatile accesses: as locks and flags, which order the accesses around them, and as neither.

__global__ void handOver(int* out, int* data, volatile int* ready) {
  if (threadIdx.x != 0) return;
  if (blockIdx.x == 0) {
    data[0] = 42;
    __threadfence();
    ready[0] = 1;
  } else {
    while (ready[0] == 0) {
    }
    __threadfence();
    out[blockIdx.x] = data[0];
  }
}

__global__ void handOverNoFence(int* out, int* data, volatile int* ready) {
  if (threadIdx.x != 0) return;
  if (blockIdx.x == 0) {
    data[0] = 42;
    ready[0] = 1;
  } else {
    while (ready[0] == 0) {
    }
    out[blockIdx.x] = data[0];
  }
}

__global__ void countLocked(int* total, int* lock) {
  if (threadIdx.x != 0) return;
  while (atomicCAS(lock, 0, 1) != 0) {
  }
  __threadfence();
  total[0] += blockIdx.x;
  __threadfence();
  *(volatile int*)lock = 0;
}

__global__ void countLockedNoFence(int* total, int* lock) {
  if (threadIdx.x != 0) return;
  while (atomicCAS(lock, 0, 1) != 0) {
  }
  total[0] += blockIdx.x;
  *(volatile int*)lock = 0;
}

// Threads read the flag once in each iteration and do not wait for it; any thread may set it.
__global__ void stopAtFirst(int* steps, volatile int* stop, const int* in, int n) {
  int t = blockIdx.x * blockDim.x + threadIdx.x, done = 0;
  for (int i = t; i < n; i += gridDim.x * blockDim.x) {
    if (stop[0] != 0) break;
    if (in[i] > 0) stop[0] = t + 1;
    done++;
  }
  steps[t] = done;
}

// The threads of a warp, as one took them to be in step before sm_70.
__global__ void sumTail(float* out, const float* in) {
  __shared__ float s[64];
  int t = threadIdx.x;
  s[t] = in[blockIdx.x * 64 + t];
  __syncthreads();
  volatile float* v = s;
  if (t < 32)
    for (int d = 32; d > 0; d /= 2) v[t] += v[t + d];
  if (t == 0) out[blockIdx.x] = v[0];
}

__global__ void sumTailSynced(float* out, const float* in) {
  __shared__ float s[64];
  int t = threadIdx.x;
  s[t] = in[blockIdx.x * 64 + t];
  __syncthreads();
  if (t >= 32) return;
  for (int d = 32; d > 0; d /= 2) {
    float other = s[t + d];
    __syncwarp();
    s[t] += other;
    __syncwarp();
  }
  if (t == 0) out[blockIdx.x] = s[0];
}

void launchVolatile(int* out, int* data, int* flag, float* sums, const int* in, const float* values) {
  handOver<<<8, 32>>>(out, data, flag);
  handOverNoFence<<<8, 32>>>(out, data, flag);
  countLocked<<<8, 32>>>(out, flag);
  countLockedNoFence<<<8, 32>>>(out, flag);
  stopAtFirst<<<8, 64>>>(out, flag, in, 10000);
  sumTail<<<8, 64>>>(sums, values);
  sumTailSynced<<<8, 64>>>(sums, values);
}
