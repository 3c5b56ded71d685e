// expect: addInTurn race=proved divergence=proved
// expect: addInTurn silent
// expect: addInTurnOfBlock race=race divergence=proved
// expect: addInTurnOfBlock finding race/global error on sum lines 31
// expect: addInTurnOfBlock advice "Take the numbers on line 28 from a counter in global memory, as `serving` is for all blocks" as in addInTurn
// expect: freeFirst race=proved divergence=proved
// expect: freeFirst silent
// expect: freeAfterArrival race=race divergence=proved
// expect: freeAfterArrival finding race/global error on sum lines 64,70
// expect: freeAfterArrival advice "Remove the store on line 68, or execute it before any thread can take the lock, with `__syncthreads()` after it" as in freeOnlyHeld
// expect: freeOnlyHeld race=proved divergence=proved
// expect: freeOnlyHeld silent
//
// Locks that have a second holder: the numbers of two blocks are equal, or a warp frees the lock of another warp.

__global__ void addInTurn(unsigned* number, unsigned* serving, int* sum) {
  unsigned own = atomicAdd(number, 1);
  while (atomicAdd(serving, 0) != own) {}
  __threadfence();
  *sum += threadIdx.x;
  __threadfence();
  atomicAdd(serving, 1);
}

// Each block has a counter, but all blocks have one lock.
__global__ void addInTurnOfBlock(unsigned* serving, int* sum) {
  __shared__ unsigned number;
  unsigned own = atomicAdd(&number, 1);
  while (atomicAdd(serving, 0) != own) {}
  __threadfence();
  *sum += threadIdx.x;
  __threadfence();
  atomicAdd(serving, 1);
}

__device__ void arrive() { asm volatile("bar.arrive 1, 64;" ::: "memory"); }
__device__ void await() { asm volatile("bar.sync 1, 64;" ::: "memory"); }

__device__ void enter(int* lock) {
  while (atomicCAS(lock, 0, 1) != 0) {}
  __threadfence();
}

__device__ void leave(int* lock) {
  __threadfence();
  atomicExch(lock, 0);
}

__global__ void freeFirst(int* lock, int* sum) {
  int lane = threadIdx.x & 31;
  if (threadIdx.x < 32) lock[lane] = 0;
  __syncthreads();
  enter(&lock[lane]);
  sum[lane] += threadIdx.x;
  leave(&lock[lane]);
}

// The second warp frees the locks that the first one holds.
__global__ void freeAfterArrival(int* lock, int* sum) {
  int lane = threadIdx.x & 31;
  if (threadIdx.x < 32) {
    enter(&lock[lane]);
    arrive();
    sum[lane] += threadIdx.x;
    leave(&lock[lane]);
  } else {
    await();
    lock[lane] = 0;
    enter(&lock[lane]);
    sum[lane] += threadIdx.x;
    leave(&lock[lane]);
  }
}

__global__ void freeOnlyHeld(int* lock, int* sum) {
  int lane = threadIdx.x & 31;
  if (threadIdx.x < 32) {
    enter(&lock[lane]);
    arrive();
    sum[lane] += threadIdx.x;
    leave(&lock[lane]);
  } else {
    await();
    enter(&lock[lane]);
    sum[lane] += threadIdx.x;
    leave(&lock[lane]);
  }
}

void addAll(unsigned* number, unsigned* serving, int* lock, int* sum) {
  addInTurn<<<8, 64>>>(number, serving, sum);
  addInTurnOfBlock<<<4, 64>>>(serving, sum);
  freeFirst<<<1, 64>>>(lock, sum);
  freeAfterArrival<<<1, 64>>>(lock, sum);
  freeOnlyHeld<<<1, 64>>>(lock, sum);
}
