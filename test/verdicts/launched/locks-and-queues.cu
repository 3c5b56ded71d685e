// expect: addToBuckets race=proved divergence=proved
// expect: addToBuckets silent
// expect: addToBucketsStriped race=proved divergence=proved
// expect: addToBucketsStriped silent
// expect: addToBucketsWrongLock race=race divergence=proved
// expect: addToBucketsWrongLock finding race/global warning on sum lines 79
// expect: addToBucketsWrongLock advice "Choose the element of `lock` by the element that is accessed, so that threads which access one element wait for the same element of `lock`" as in addToBuckets
// expect: addToBucketsNoLock race=race divergence=proved
// expect: addToBucketsNoLock finding race/global warning on sum lines 86
// expect: addToBucketsNoLock advice "Use an atomic operation such as `atomicAdd()`"
// expect: addUnderLock race=proved divergence=proved
// expect: addUnderLock silent
// expect: addUnderLockNoRelease race=race divergence=proved
// expect: addUnderLockNoRelease finding race/global error on sum lines 100
// expect: addUnderLockNoRelease advice "Add `__threadfence()` before releasing the lock on line 101" as in addUnderLock
// expect: addUnderLockBlockFences race=race divergence=proved
// expect: addUnderLockBlockFences finding race/global error on sum lines 109
// expect: addUnderLockBlockFences advice "Replace each `__threadfence_block()` with `__threadfence()`" as in addUnderLock
// expect: chainSums race=proved divergence=proved
// expect: chainSums silent
// expect: chainSumsNoRelease race=race divergence=proved
// expect: chainSumsNoRelease finding race/global error on prefix lines 134,136
// expect: chainSumsNoRelease advice "Add `__threadfence()` before the update of `ready` on line 137" as in chainSums
// expect: chainSumsNoWait race=race divergence=proved
// expect: chainSumsNoWait finding race/global error on prefix lines 143,144
// expect: chainSumsNoWait advice "Wait for `ready[blockIdx.x - 1]` in a loop before the access on line 143, with `__threadfence()` after the loop" as in chainSums
// expect: drawSlots race=proved divergence=proved
// expect: drawSlots silent
// expect: drawTwoSlots race=proved divergence=proved
// expect: drawTwoSlots silent
// expect: fillTwoSlots race=race divergence=proved
// expect: fillTwoSlots finding race/global error on items lines 167,168
// expect: fillTwoSlots advice "Let the atomic operation on line 166 add 2" as in drawTwoSlots
// expect: takeTasks race=proved divergence=proved
// expect: takeTasks silent
// expect: takeTasksOfBlocks race=proved divergence=proved
// expect: takeTasksOfBlocks silent
// expect: takeTasksOfBlocksNoSecondBarrier race=race divergence=possible
// expect: takeTasksOfBlocksNoSecondBarrier finding race/shared error on task lines 192,194
// expect: takeTasksOfBlocksNoSecondBarrier advice "Add `__syncthreads()` at the end of the loop body, where all threads of the block execute it" as in takeTasksOfBlocks
//
// Locks of buckets, chains of blocks, and slots allocated by counters.

__device__ void enter(int* lock) {
  while (atomicCAS(lock, 0, 1) != 0) {}
  __threadfence();
}

__device__ void leave(int* lock) {
  __threadfence();
  atomicExch(lock, 0);
}

__global__ void addToBuckets(int* lock, int* sum, const int* bucket, int n) {
  int i = blockIdx.x;
  if (threadIdx.x != 0 || i >= n) return;
  int b = bucket[i];
  enter(&lock[b]);
  sum[b] += i;
  leave(&lock[b]);
}

// Several buckets share a lock.
__global__ void addToBucketsStriped(int* lock, int* sum, const int* bucket, int n) {
  int i = blockIdx.x;
  if (threadIdx.x != 0 || i >= n) return;
  int b = bucket[i];
  enter(&lock[b & 31]);
  sum[b] += i;
  leave(&lock[b & 31]);
}

// The lock is that of the block, not of the bucket.
__global__ void addToBucketsWrongLock(int* lock, int* sum, const int* bucket, int n) {
  int i = blockIdx.x;
  if (threadIdx.x != 0 || i >= n) return;
  int b = bucket[i];
  enter(&lock[i]);
  sum[b] += i;
  leave(&lock[i]);
}

__global__ void addToBucketsNoLock(int* sum, const int* bucket, int n) {
  int i = blockIdx.x;
  if (threadIdx.x != 0 || i >= n) return;
  sum[bucket[i]] += i;
}

__global__ void addUnderLock(int* lock, int* sum) {
  if (threadIdx.x != 0) return;
  enter(lock);
  *sum += blockIdx.x;
  leave(lock);
}

// The fence before the release is missing.
__global__ void addUnderLockNoRelease(int* lock, int* sum) {
  if (threadIdx.x != 0) return;
  enter(lock);
  *sum += blockIdx.x;
  atomicExch(lock, 0);
}

// The fences reach the block only.
__global__ void addUnderLockBlockFences(int* lock, int* sum) {
  if (threadIdx.x != 0) return;
  while (atomicCAS(lock, 0, 1) != 0) {}
  __threadfence_block();
  *sum += blockIdx.x;
  __threadfence_block();
  atomicExch(lock, 0);
}

// Each block waits for the sum of those before it.
__global__ void chainSums(int* prefix, int* ready, const int* in) {
  if (threadIdx.x != 0) return;
  int sum = in[blockIdx.x];
  if (blockIdx.x > 0) {
    while (atomicAdd(&ready[blockIdx.x - 1], 0) == 0) {}
    __threadfence();
    sum += prefix[blockIdx.x - 1];
  }
  prefix[blockIdx.x] = sum;
  __threadfence();
  atomicExch(&ready[blockIdx.x], 1);
}

__global__ void chainSumsNoRelease(int* prefix, int* ready, const int* in) {
  if (threadIdx.x != 0) return;
  int sum = in[blockIdx.x];
  if (blockIdx.x > 0) {
    while (atomicAdd(&ready[blockIdx.x - 1], 0) == 0) {}
    __threadfence();
    sum += prefix[blockIdx.x - 1];
  }
  prefix[blockIdx.x] = sum;
  atomicExch(&ready[blockIdx.x], 1);
}

__global__ void chainSumsNoWait(int* prefix, int* ready, const int* in) {
  if (threadIdx.x != 0) return;
  int sum = in[blockIdx.x];
  if (blockIdx.x > 0) sum += prefix[blockIdx.x - 1];
  prefix[blockIdx.x] = sum;
  __threadfence();
  atomicExch(&ready[blockIdx.x], 1);
}

__global__ void drawSlots(int* items, unsigned* tail, const int* in) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (in[i] > 0) items[atomicAdd(tail, 1u)] = i;
}

__global__ void drawTwoSlots(int2* items, unsigned* tail, const int* in) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (in[i] > 0) {
    unsigned slot = atomicAdd(tail, 2u);
    items[slot] = make_int2(i, in[i]);
    items[slot + 1] = make_int2(in[i], i);
  }
}

// A thread allocates one slot and fills two.
__global__ void fillTwoSlots(int* items, unsigned* tail) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  unsigned slot = atomicAdd(tail, 1u);
  items[slot] = i;
  items[slot + 1] += i;
}

// A thread takes tasks until none are left.
__global__ void takeTasks(int* out, int* head, const int* in, int n) {
  for (int task = atomicAdd(head, 1); task < n; task = atomicAdd(head, 1)) out[task] = 2 * in[task];
}

// A block takes tasks; thread 0 allocates the ticket and broadcasts it to the others.
__global__ void takeTasksOfBlocks(int* out, int* head, const int* in, int n) {
  __shared__ int task;
  for (;;) {
    if (threadIdx.x == 0) task = atomicAdd(head, 1);
    __syncthreads();
    int own = task;
    __syncthreads();
    if (own >= n) return;
    out[own * blockDim.x + threadIdx.x] = in[own];
  }
}

__global__ void takeTasksOfBlocksNoSecondBarrier(int* out, int* head, const int* in, int n) {
  __shared__ int task;
  for (;;) {
    if (threadIdx.x == 0) task = atomicAdd(head, 1);
    __syncthreads();
    int own = task;
    if (own >= n) return;
    out[own * blockDim.x + threadIdx.x] = in[own];
  }
}

void lockAll(int* lock, int* sum, const int* in, unsigned* tail, int2* pairs, int* out) {
  addToBuckets<<<64, 32>>>(lock, sum, in, 64);
  addToBucketsStriped<<<64, 32>>>(lock, sum, in, 64);
  addToBucketsWrongLock<<<64, 32>>>(lock, sum, in, 64);
  addToBucketsNoLock<<<64, 32>>>(sum, in, 64);
  addUnderLock<<<64, 32>>>(lock, sum);
  addUnderLockNoRelease<<<64, 32>>>(lock, sum);
  addUnderLockBlockFences<<<64, 32>>>(lock, sum);
  chainSums<<<64, 32>>>(sum, lock, in);
  chainSumsNoRelease<<<64, 32>>>(sum, lock, in);
  chainSumsNoWait<<<64, 32>>>(sum, lock, in);
  drawSlots<<<16, 256>>>(out, tail, in);
  drawTwoSlots<<<16, 256>>>(pairs, tail, in);
  fillTwoSlots<<<16, 256>>>(out, tail);
  takeTasks<<<16, 256>>>(out, lock, in, 10000);
  takeTasksOfBlocks<<<8, 64>>>(out, lock, in, 100);
  takeTasksOfBlocksNoSecondBarrier<<<8, 64>>>(out, lock, in, 100);
}
