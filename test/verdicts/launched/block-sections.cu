// expect: lockForBlock race=proved divergence=proved
// expect: lockForBlock silent
// expect: lockForBlockNoBarrierAfter race=race divergence=proved
// expect: lockForBlockNoBarrierAfter finding race/global error on sum lines 75
// expect: lockForBlockNoBarrierAfter advice "Add `__syncthreads()`, which all threads of the block execute, before releasing the lock on line 78" as in lockForBlock
// expect: lockForBlockNoBarrierBefore race=race divergence=proved
// expect: lockForBlockNoBarrierBefore finding race/global error on sum lines 88
// expect: lockForBlockNoBarrierBefore advice "Add `__syncthreads()`, which all threads of the block execute, after acquiring the lock on line 85" as in lockForBlock
// expect: lockForBlockNeighbours race=race divergence=proved
// expect: lockForBlockNeighbours finding race/global error on sum lines 104
// expect: lockForBlockNeighbours advice "Read into a variable, and add `__syncthreads()` between the read and the write"
// expect: inTurn race=proved divergence=proved
// expect: inTurn silent
// expect: inTurnNoRelease race=race divergence=proved
// expect: inTurnNoRelease finding race/global error on sum lines 133
// expect: inTurnNoRelease advice "Add `__threadfence()` before releasing the lock on line 135" as in inTurn
// expect: tileInTurn race=proved divergence=proved
// expect: tileInTurn silent
// expect: tileInTurnOfRow race=race divergence=proved
// expect: tileInTurnOfRow finding race/global error on sum lines 166
// expect: tileInTurnOfRow advice "Wait at the element of `turn` with the index `blockIdx.x` for `blockIdx.y`, so that blocks which access one element take turns at the same element of `turn`" as in tileInTurn
// expect: ownNode race=proved divergence=proved
// expect: ownNode silent
// expect: ownNodeFreeIsZero race=race divergence=proved
// expect: ownNodeFreeIsZero finding race/global warning on sum lines 193
// expect: ownNodeFreeIsZero advice "Store `blockIdx.x * 128 + threadIdx.x + 1` to take the lock, which is never 0"
// expect: slotsForWarp race=proved divergence=proved
// expect: slotsForWarp silent
// expect: slotsForWarpTooFew race=race divergence=proved
// expect: slotsForWarpTooFew finding race/global error on items lines 215
// expect: slotsForWarpTooFew advice "Let the atomic operation on line 213 add 32" as in slotsForWarp
// expect: takeRowsOfWarps race=proved divergence=proved
// expect: takeRowsOfWarps silent
// expect: takeRowsOfWarpsFromLane1 race=race divergence=proved
// expect: takeRowsOfWarpsFromLane1 finding race/global error on out lines 237
// expect: takeRowsOfWarpsFromLane1 finding warp/undefined-value warning lines 235
// expect: takeRowsOfWarpsFromLane1 advice "Let all lanes of the mask execute `__shfl_sync()` before they return, and guard only what follows" as in takeRowsOfWarps
// expect: takeRowsOfWarpsFromLane1 advice "Let all lanes of the warp read lane 0, which executes the atomic operation on line 234, in `__shfl_sync()` on line 235" as in takeRowsOfWarps
// open: takeRowsOfWarpsFromLane1 race, and divergence possible: a number that one lane allocates for its warp
// expect: slotsOfBlock race=proved divergence=proved
// expect: slotsOfBlock silent
// open: slotsOfBlock possible: that the slots of a block are at most its threads
// expect: slotsOfBlockNoBarrier race=race divergence=proved
// expect: slotsOfBlockNoBarrier finding race/shared error on items lines 260,261
// expect: slotsOfBlockNoBarrier advice "Add `__syncthreads()` between the two accesses, outside of the branch that only some threads take; a branch that contains both accesses has to be split there"
// expect: lookBack race=proved divergence=proved
// expect: lookBack silent
// expect: lookBackTooEarly race=race divergence=proved
// expect: lookBackTooEarly finding race/global error on prefixes lines 302,304
// expect: lookBackTooEarly advice "Wait on line 299 until `state` is 2, which the other thread stores after its access" as in lookBack
// Thread 0 acquires for its block, and barriers of the block extend that to all of its threads; and queues.

__global__ void lockForBlock(int* lock, int* sum) {
  int t = threadIdx.x;
  if (t == 0) {
    while (atomicCAS(lock, 0, 1) != 0) {}
    __threadfence();
  }
  __syncthreads();
  sum[t] += blockIdx.x;
  __syncthreads();
  if (t == 0) {
    __threadfence();
    atomicExch(lock, 0);
  }
}

__global__ void lockForBlockNoBarrierAfter(int* lock, int* sum) {
  int t = threadIdx.x;
  if (t == 0) {
    while (atomicCAS(lock, 0, 1) != 0) {}
    __threadfence();
  }
  __syncthreads();
  sum[t] += blockIdx.x;
  if (t == 0) {
    __threadfence();
    atomicExch(lock, 0);
  }
}

__global__ void lockForBlockNoBarrierBefore(int* lock, int* sum) {
  int t = threadIdx.x;
  if (t == 0) {
    while (atomicCAS(lock, 0, 1) != 0) {}
    __threadfence();
  }
  sum[t] += blockIdx.x;
  __syncthreads();
  if (t == 0) {
    __threadfence();
    atomicExch(lock, 0);
  }
}

// All threads of the block read one element and write another one: a barrier of the block is needed in between.
__global__ void lockForBlockNeighbours(int* lock, int* sum) {
  int t = threadIdx.x;
  if (t == 0) {
    while (atomicCAS(lock, 0, 1) != 0) {}
    __threadfence();
  }
  __syncthreads();
  sum[t] += sum[(t + 1) % 128];
  __syncthreads();
  if (t == 0) {
    __threadfence();
    atomicExch(lock, 0);
  }
}

// Blocks in the order of their numbers, as in a reduction that adds in one order.
__global__ void inTurn(int* turn, int* sum, const int* in) {
  int t = threadIdx.x;
  if (t == 0) {
    while (*(volatile int*)turn != blockIdx.x) {}
    __threadfence();
  }
  __syncthreads();
  sum[t] += in[blockIdx.x * 128 + t];
  __threadfence();
  __syncthreads();
  if (t == 0) atomicAdd(turn, 1);
}

__global__ void inTurnNoRelease(int* turn, int* sum, const int* in) {
  int t = threadIdx.x;
  if (t == 0) {
    while (*(volatile int*)turn != blockIdx.x) {}
    __threadfence();
  }
  __syncthreads();
  sum[t] += in[blockIdx.x * 128 + t];
  __syncthreads();
  if (t == 0) atomicAdd(turn, 1);
}

// A semaphore of each tile, whose blocks follow one another.
__device__ int load_acquire(int* p) {
  int value;
  asm volatile("ld.acquire.gpu.global.s32 %0, [%1];" : "=r"(value) : "l"(p) : "memory");
  return value;
}

__device__ void store_release(int* p, int value) {
  asm volatile("st.release.gpu.global.s32 [%0], %1;" ::"l"(p), "r"(value) : "memory");
}

__global__ void tileInTurn(int* turn, int* sum, const int* in) {
  int t = threadIdx.x;
  if (t == 0) {
    while (load_acquire(&turn[blockIdx.x]) != blockIdx.y) {}
  }
  __syncthreads();
  sum[blockIdx.x * 128 + t] += in[(blockIdx.y * 8 + blockIdx.x) * 128 + t];
  __syncthreads();
  if (t == 0) store_release(&turn[blockIdx.x], blockIdx.y + 1);
}

__global__ void tileInTurnOfRow(int* turn, int* sum, const int* in) {
  int t = threadIdx.x;
  if (t == 0) {
    while (load_acquire(&turn[blockIdx.y]) != blockIdx.x) {}
  }
  __syncthreads();
  sum[blockIdx.x * 128 + t] += in[(blockIdx.y * 8 + blockIdx.x) * 128 + t];
  __syncthreads();
  if (t == 0) store_release(&turn[blockIdx.y], blockIdx.x + 1);
}

// The number of the owner is the value of the lock.
__global__ void ownNode(int* owner, int* sum, const int* node) {
  int id = blockIdx.x * blockDim.x + threadIdx.x, at = node[id];
  bool isDone = false;
  while (!isDone) {
    if (atomicCAS(&owner[at], -1, id) == -1) {
      __threadfence();
      sum[at] += id;
      __threadfence();
      atomicExch(&owner[at], -1);
      isDone = true;
    }
  }
}

// The number of a thread is 0 for one of them, and 0 is the free value.
__global__ void ownNodeFreeIsZero(int* owner, int* sum, const int* node) {
  int id = blockIdx.x * blockDim.x + threadIdx.x, at = node[id];
  bool isDone = false;
  while (!isDone) {
    if (atomicCAS(&owner[at], 0, id) == 0) {
      __threadfence();
      sum[at] += id;
      __threadfence();
      atomicExch(&owner[at], 0);
      isDone = true;
    }
  }
}

// One lane allocates slots for its warp.
__global__ void slotsForWarp(int* items, unsigned* tail, const int* in) {
  int lane = threadIdx.x & 31;
  unsigned first = 0;
  if (lane == 0) first = atomicAdd(tail, 32);
  first = __shfl_sync(0xffffffffu, first, 0);
  items[first + lane] = in[blockIdx.x * blockDim.x + threadIdx.x];
}

__global__ void slotsForWarpTooFew(int* items, unsigned* tail, const int* in) {
  int lane = threadIdx.x & 31;
  unsigned first = 0;
  if (lane == 0) first = atomicAdd(tail, 16);
  first = __shfl_sync(0xffffffffu, first, 0);
  items[first + lane] = in[blockIdx.x * blockDim.x + threadIdx.x];
}

// Warps take rows until none are left.
__global__ void takeRowsOfWarps(float* out, int* head, const float* in, int rows) {
  int lane = threadIdx.x & 31;
  for (;;) {
    int row = 0;
    if (lane == 0) row = atomicAdd(head, 1);
    row = __shfl_sync(0xffffffffu, row, 0);
    if (row >= rows) return;
    out[row * 32 + lane] = in[row * 32 + lane];
  }
}

__global__ void takeRowsOfWarpsFromLane1(float* out, int* head, const float* in, int rows) {
  int lane = threadIdx.x & 31;
  for (;;) {
    int row = 0;
    if (lane == 0) row = atomicAdd(head, 1);
    row = __shfl_sync(0xffffffffu, row, 1);
    if (row >= rows) return;
    out[row * 32 + lane] = in[row * 32 + lane] + blockIdx.x;
    if (lane == 1 && in[0] > 0) return;
  }
}

// Slots of a counter in shared memory.
__global__ void slotsOfBlock(int* out, const int* in) {
  __shared__ int items[256];
  __shared__ int count;
  if (threadIdx.x == 0) count = 0;
  __syncthreads();
  int own = in[blockIdx.x * 256 + threadIdx.x];
  if (own > 0) items[atomicAdd(&count, 1)] = own;
  __syncthreads();
  for (int i = threadIdx.x; i < count; i += 256) out[blockIdx.x * 256 + i] = items[i];
}

__global__ void slotsOfBlockNoBarrier(int* out, const int* in) {
  __shared__ int items[256];
  __shared__ int count;
  if (threadIdx.x == 0) count = 0;
  __syncthreads();
  int own = in[blockIdx.x * 256 + threadIdx.x];
  if (own > 0) items[atomicAdd(&count, 1)] = own;
  for (int i = threadIdx.x; i < 256; i += 256) out[blockIdx.x * 256 + i] = items[255 - i];
}

// Each block publishes its sum, then the sum of all blocks up to it; blocks look back until they find the latter.
__global__ void lookBack(int* sums, int* prefixes, int* state, int* out, const int* in) {
  if (threadIdx.x != 0) return;
  int b = blockIdx.x, own = in[b], before = 0;
  if (b > 0) {
    sums[b] = own;
    __threadfence();
    atomicExch(&state[b], 1);
    for (int p = b - 1;; --p) {
      int seen;
      do seen = *(volatile int*)&state[p];
      while (seen == 0);
      __threadfence();
      if (seen == 2) {
        before += prefixes[p];
        break;
      }
      before += sums[p];
    }
  }
  prefixes[b] = before + own;
  __threadfence();
  atomicExch(&state[b], 2);
  out[b] = before;
}

// A block reads the prefix when it has seen the sum only.
__global__ void lookBackTooEarly(int* sums, int* prefixes, int* state, int* out, const int* in) {
  if (threadIdx.x != 0) return;
  int b = blockIdx.x, own = in[b], before = 0;
  if (b > 0) {
    sums[b] = own;
    __threadfence();
    atomicExch(&state[b], 1);
    int seen;
    do seen = *(volatile int*)&state[b - 1];
    while (seen == 0);
    __threadfence();
    before = prefixes[b - 1];
  }
  prefixes[b] = before + own;
  __threadfence();
  atomicExch(&state[b], 2);
  out[b] = before;
}

void sections(int* lock, int* sum, const int* in, unsigned* tail, int* items, float* x, const float* y, int rows, int* state) {
  lockForBlock<<<16, 128>>>(lock, sum);
  lockForBlockNoBarrierAfter<<<16, 128>>>(lock, sum);
  lockForBlockNoBarrierBefore<<<16, 128>>>(lock, sum);
  lockForBlockNeighbours<<<16, 128>>>(lock, sum);
  inTurn<<<16, 128>>>(lock, sum, in);
  inTurnNoRelease<<<16, 128>>>(lock, sum, in);
  tileInTurn<<<dim3(8, 4), 128>>>(lock, sum, in);
  tileInTurnOfRow<<<dim3(8, 4), 128>>>(lock, sum, in);
  ownNode<<<16, 128>>>(lock, sum, in);
  ownNodeFreeIsZero<<<16, 128>>>(lock, sum, in);
  slotsForWarp<<<16, 128>>>(items, tail, in);
  slotsForWarpTooFew<<<16, 128>>>(items, tail, in);
  takeRowsOfWarps<<<16, 128>>>(x, lock, y, rows);
  takeRowsOfWarpsFromLane1<<<16, 128>>>(x, lock, y, rows);
  slotsOfBlock<<<16, 256>>>(items, in);
  slotsOfBlockNoBarrier<<<16, 256>>>(items, in);
  lookBack<<<16, 32>>>(sum, items, state, lock, in);
  lookBackTooEarly<<<16, 32>>>(sum, items, state, lock, in);
}
