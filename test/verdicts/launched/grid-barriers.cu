// expect: syncOnce race=proved divergence=proved
// expect: syncOnce silent
// expect: syncOnceNoFence race=race divergence=proved
// expect: syncOnceNoFence finding race/global error on part lines 50,57
// expect: syncOnceNoFence advice "Add `__threadfence()` before the update of `done` on line 53 and after the loop on line 54 that waits for `done`" as in syncOnce
// expect: syncOnceTooFew race=race divergence=proved
// expect: syncOnceTooFew finding race/global error on part lines 62,71
// expect: syncOnceTooFew advice "Wait on line 67 until `done` is `gridDim.x`" as in syncOnce
// expect: syncTwice race=proved divergence=proved
// expect: syncTwice silent
// expect: syncTwiceForOne race=race divergence=proved
// expect: syncTwiceForOne finding race/global error on b lines 100,102
// expect: syncTwiceForOne advice "Wait on line 79 (called from line 101) until `done` is the number of blocks times the number of barriers of the grid up to this one, as nothing sets it back to 0" as in syncTwice
// expect: syncEachStep race=proved divergence=proved
// expect: syncEachStep silent
// expect: syncEachOtherStep race=race divergence=proved
// expect: syncEachOtherStep finding race/global warning on a lines 120,122
// expect: syncEachOtherStep advice "Add another barrier of the grid, such as that on line 78 (called from line 121), at the end of the loop body, where all blocks execute it, and let each barrier wait until `done` is the number of blocks times the number of barriers up to that one" as in syncEachStep
// expect: syncByGeneration race=proved divergence=proved
// expect: syncByGeneration silent
// expect: syncByGenerationNoFence race=race divergence=proved
// expect: syncByGenerationNoFence finding race/global error on a lines 172,174
// expect: syncByGenerationNoFence advice "Add `__threadfence()` before the update of `count` on line 159 (called from line 175) and that of `generation` on line 161 (called from line 175) and after the branch with the loop on line 163 (called from line 175) that waits for `generation`" as in syncByGeneration
// expect: syncByHighBit race=proved divergence=proved
// expect: syncByHighBit silent
// expect: syncByFlags race=proved divergence=proved
// expect: syncByFlags silent
// expect: syncByFlagsButOne race=race divergence=proved
// expect: syncByFlagsButOne finding race/global error on a lines 219,230
// expect: syncByFlagsButOne advice "Wait for that element of `flags`, too, or access the element that belongs to the one that is waited for" as in syncByFlags
//
// Barriers of the grid that programs write themselves: blocks count at an element and wait until all have.

__global__ void syncOnce(int* part, unsigned* done, int* out, const int* in) {
  int t = threadIdx.x;
  part[blockIdx.x * 128 + t] = in[blockIdx.x * 128 + t];
  __threadfence();
  __syncthreads();
  if (t == 0) {
    atomicAdd(done, 1);
    while (*(volatile unsigned*)done < gridDim.x) {}
    __threadfence();
  }
  __syncthreads();
  out[blockIdx.x * 128 + t] = part[(gridDim.x - 1 - blockIdx.x) * 128 + t];
}

__global__ void syncOnceNoFence(int* part, unsigned* done, int* out, const int* in) {
  int t = threadIdx.x;
  part[blockIdx.x * 128 + t] = in[blockIdx.x * 128 + t];
  __syncthreads();
  if (t == 0) {
    atomicAdd(done, 1);
    while (*(volatile unsigned*)done < gridDim.x) {}
  }
  __syncthreads();
  out[blockIdx.x * 128 + t] = part[(gridDim.x - 1 - blockIdx.x) * 128 + t];
}

__global__ void syncOnceTooFew(int* part, unsigned* done, int* out, const int* in) {
  int t = threadIdx.x;
  part[blockIdx.x * 128 + t] = in[blockIdx.x * 128 + t];
  __threadfence();
  __syncthreads();
  if (t == 0) {
    atomicAdd(done, 1);
    while (*(volatile unsigned*)done < gridDim.x - 1) {}
    __threadfence();
  }
  __syncthreads();
  out[blockIdx.x * 128 + t] = part[(gridDim.x - 1 - blockIdx.x) * 128 + t];
}

__device__ void countUp(unsigned* done, unsigned goal) {
  __syncthreads();
  if (threadIdx.x == 0) {
    __threadfence();
    atomicAdd(done, 1);
    while (*(volatile unsigned*)done < goal) {}
    __threadfence();
  }
  __syncthreads();
}

// Two barriers, counted up.
__global__ void syncTwice(int* a, int* b, unsigned* done, int* out) {
  int t = threadIdx.x, other = (gridDim.x - 1 - blockIdx.x) * 128 + t;
  a[blockIdx.x * 128 + t] = t;
  countUp(done, gridDim.x);
  b[blockIdx.x * 128 + t] = a[other];
  countUp(done, 2 * gridDim.x);
  out[blockIdx.x * 128 + t] = b[other];
}

// The second barrier waits for the number of the first.
__global__ void syncTwiceForOne(int* a, int* b, unsigned* done, int* out) {
  int t = threadIdx.x, other = (gridDim.x - 1 - blockIdx.x) * 128 + t;
  a[blockIdx.x * 128 + t] = t;
  countUp(done, gridDim.x);
  b[blockIdx.x * 128 + t] = a[other];
  countUp(done, gridDim.x);
  out[blockIdx.x * 128 + t] = b[other];
}

// A barrier in each step of a stencil.
__global__ void syncEachStep(float* a, float* b, unsigned* done, int steps) {
  int i = blockIdx.x * 128 + threadIdx.x, n = gridDim.x * 128;
  for (int step = 0; step < steps; ++step) {
    if (i > 0 && i < n - 1) b[i] = a[i - 1] + a[i + 1];
    countUp(done, (2 * step + 1) * gridDim.x);
    a[i] = b[i];
    countUp(done, (2 * step + 2) * gridDim.x);
  }
}

// One barrier of the two is missing.
__global__ void syncEachOtherStep(float* a, float* b, unsigned* done, int steps) {
  int i = blockIdx.x * 128 + threadIdx.x, n = gridDim.x * 128;
  for (int step = 0; step < steps; ++step) {
    if (i > 0 && i < n - 1) b[i] = a[i - 1] + a[i + 1];
    countUp(done, (step + 1) * gridDim.x);
    a[i] = b[i];
  }
}

// The last block to arrive begins a new generation.
__device__ void nextGeneration(unsigned* count, volatile unsigned* generation) {
  __syncthreads();
  if (threadIdx.x == 0) {
    unsigned own = *generation;
    __threadfence();
    if (atomicAdd(count, 1) == gridDim.x - 1) {
      *count = 0;
      __threadfence();
      atomicAdd((unsigned*)generation, 1);
    } else {
      while (*generation == own) {}
    }
    __threadfence();
  }
  __syncthreads();
}

__global__ void syncByGeneration(float* a, float* b, unsigned* count, unsigned* generation, int steps) {
  int i = blockIdx.x * 128 + threadIdx.x, n = gridDim.x * 128;
  for (int step = 0; step < steps; ++step) {
    if (i > 0 && i < n - 1) b[i] = a[i - 1] + a[i + 1];
    nextGeneration(count, generation);
    a[i] = b[i];
    nextGeneration(count, generation);
  }
}

// The last block to arrive does not wait, and no fence orders what it does afterwards.
__device__ void nextGenerationNoFence(unsigned* count, volatile unsigned* generation) {
  __syncthreads();
  if (threadIdx.x == 0) {
    unsigned own = *generation;
    if (atomicAdd(count, 1) == gridDim.x - 1) {
      *count = 0;
      atomicAdd((unsigned*)generation, 1);
    } else {
      while (*generation == own) {}
    }
  }
  __syncthreads();
}

__global__ void syncByGenerationNoFence(float* a, float* b, unsigned* count, unsigned* generation, int steps) {
  int i = blockIdx.x * 128 + threadIdx.x, n = gridDim.x * 128;
  for (int step = 0; step < steps; ++step) {
    if (i > 0 && i < n - 1) b[i] = a[i - 1] + a[i + 1];
    nextGenerationNoFence(count, generation);
    a[i] = b[i];
    nextGenerationNoFence(count, generation);
  }
}

// The highest bit of the counter flips when all have arrived, as in cooperative groups.
__device__ void flipHighBit(unsigned* arrived) {
  __syncthreads();
  if (threadIdx.x == 0) {
    unsigned step = blockIdx.x == 0 ? 0x80000000u - (gridDim.x - 1) : 1u;
    __threadfence();
    unsigned old = atomicAdd(arrived, step);
    while (((old ^ *(volatile unsigned*)arrived) & 0x80000000u) == 0) {}
    __threadfence();
  }
  __syncthreads();
}

__global__ void syncByHighBit(int* a, unsigned* arrived, int* out) {
  int t = threadIdx.x, other = (gridDim.x - 1 - blockIdx.x) * 128 + t;
  a[blockIdx.x * 128 + t] = t;
  flipHighBit(arrived);
  out[blockIdx.x * 128 + t] = a[other];
}

// Each block has a flag; each thread waits for that of another block.
__global__ void syncByFlags(int* a, int* flags, int* out) {
  int t = threadIdx.x, other = (gridDim.x - 1 - blockIdx.x) * 128 + t;
  a[blockIdx.x * 128 + t] = t;
  __syncthreads();
  if (t == 0) {
    __threadfence();
    atomicExch(&flags[blockIdx.x], 1);
  }
  if (t < gridDim.x) {
    while (((volatile int*)flags)[t] == 0) {}
    __threadfence();
  }
  __syncthreads();
  out[blockIdx.x * 128 + t] = a[other];
}

// The flag of block 0 is not waited for.
__global__ void syncByFlagsButOne(int* a, int* flags, int* out) {
  int t = threadIdx.x, other = (gridDim.x - 1 - blockIdx.x) * 128 + t;
  a[blockIdx.x * 128 + t] = t;
  __syncthreads();
  if (t == 0) {
    __threadfence();
    atomicExch(&flags[blockIdx.x], 1);
  }
  if (t > 0 && t < gridDim.x) {
    while (((volatile int*)flags)[t] == 0) {}
    __threadfence();
  }
  __syncthreads();
  out[blockIdx.x * 128 + t] = a[other];
}

void syncAll(int* a, int* b, unsigned* done, unsigned* generation, int* out, const int* in, float* x, float* y, int steps, int* flags) {
  syncOnce<<<16, 128>>>(a, done, out, in);
  syncOnceNoFence<<<16, 128>>>(a, done, out, in);
  syncOnceTooFew<<<16, 128>>>(a, done, out, in);
  syncTwice<<<16, 128>>>(a, b, done, out);
  syncTwiceForOne<<<16, 128>>>(a, b, done, out);
  syncEachStep<<<16, 128>>>(x, y, done, steps);
  syncEachOtherStep<<<16, 128>>>(x, y, done, steps);
  syncByGeneration<<<16, 128>>>(x, y, done, generation, steps);
  syncByGenerationNoFence<<<16, 128>>>(x, y, done, generation, steps);
  syncByHighBit<<<16, 128>>>(a, done, out);
  syncByFlags<<<16, 128>>>(a, flags, out);
  syncByFlagsButOne<<<16, 128>>>(a, flags, out);
}
