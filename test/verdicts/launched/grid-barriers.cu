// expect: meetOnce race=proved divergence=proved
// expect: meetOnce silent
// expect: meetOnceNoFence race=race divergence=proved
// expect: meetOnceNoFence finding race/global error on part lines 56,63
// expect: meetOnceNoFence finding race/volatile warning on done lines 59,60
// expect: meetOnceTooFew race=race divergence=proved
// expect: meetOnceTooFew finding race/global error on part lines 68,77
// expect: meetOnceTooFew finding race/volatile warning on done lines 72,73
// open: meetOnceTooFew race by the volatile wait only: no run lets a block go on before the last one has counted
// expect: meetTwice race=proved divergence=proved
// expect: meetTwice silent
// open: meetTwice race by the volatile wait: a counter that a block counts twice
// expect: meetTwiceForOne race=race divergence=proved
// expect: meetTwiceForOne finding race/global error on b lines 106,108
// expect: meetTwiceForOne finding race/volatile warning on done lines 84,85
// expect: meetEachStep race=proved divergence=proved
// expect: meetEachStep silent
// open: meetEachStep race by the volatile wait: a counter that a block counts in each iteration
// expect: meetEachOtherStep race=race divergence=proved
// expect: meetEachOtherStep finding race/global warning on a lines 126,128
// expect: meetEachOtherStep finding race/volatile warning on done lines 84,85
// expect: meetByGeneration race=proved divergence=proved
// expect: meetByGeneration silent
// open: meetByGeneration race by the volatile wait: a barrier that the last block opens
// expect: meetByGenerationNoFence race=race divergence=proved
// expect: meetByGenerationNoFence finding race/global error on a lines 178,180
// expect: meetByGenerationNoFence finding race/global error on count lines 165,166
// expect: meetByGenerationNoFence finding race/volatile warning on generation lines 164,167,169
// expect: meetByHighBit race=proved divergence=proved
// expect: meetByHighBit silent
// open: meetByHighBit race by the volatile wait: a barrier that a bit of the counter opens
// expect: meetByFlags race=proved divergence=proved
// expect: meetByFlags silent
// open: meetByFlags possible: a block that has seen the flags of all others
// expect: meetByFlagsButOne race=race divergence=proved
// expect: meetByFlagsButOne finding race/global error on a lines 225,236
//
// Barriers of the grid that programs write themselves: blocks count at an element and wait until all have.

__global__ void meetOnce(int* part, unsigned* done, int* out, const int* in) {
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

__global__ void meetOnceNoFence(int* part, unsigned* done, int* out, const int* in) {
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

__global__ void meetOnceTooFew(int* part, unsigned* done, int* out, const int* in) {
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

// Two meetings, counted up.
__global__ void meetTwice(int* a, int* b, unsigned* done, int* out) {
  int t = threadIdx.x, other = (gridDim.x - 1 - blockIdx.x) * 128 + t;
  a[blockIdx.x * 128 + t] = t;
  countUp(done, gridDim.x);
  b[blockIdx.x * 128 + t] = a[other];
  countUp(done, 2 * gridDim.x);
  out[blockIdx.x * 128 + t] = b[other];
}

// The second meeting waits for the number of the first.
__global__ void meetTwiceForOne(int* a, int* b, unsigned* done, int* out) {
  int t = threadIdx.x, other = (gridDim.x - 1 - blockIdx.x) * 128 + t;
  a[blockIdx.x * 128 + t] = t;
  countUp(done, gridDim.x);
  b[blockIdx.x * 128 + t] = a[other];
  countUp(done, gridDim.x);
  out[blockIdx.x * 128 + t] = b[other];
}

// A meeting in each step of a stencil.
__global__ void meetEachStep(float* a, float* b, unsigned* done, int steps) {
  int i = blockIdx.x * 128 + threadIdx.x, n = gridDim.x * 128;
  for (int step = 0; step < steps; ++step) {
    if (i > 0 && i < n - 1) b[i] = a[i - 1] + a[i + 1];
    countUp(done, (2 * step + 1) * gridDim.x);
    a[i] = b[i];
    countUp(done, (2 * step + 2) * gridDim.x);
  }
}

// One meeting of the two is missing.
__global__ void meetEachOtherStep(float* a, float* b, unsigned* done, int steps) {
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

__global__ void meetByGeneration(float* a, float* b, unsigned* count, unsigned* generation, int steps) {
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

__global__ void meetByGenerationNoFence(float* a, float* b, unsigned* count, unsigned* generation, int steps) {
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

__global__ void meetByHighBit(int* a, unsigned* arrived, int* out) {
  int t = threadIdx.x, other = (gridDim.x - 1 - blockIdx.x) * 128 + t;
  a[blockIdx.x * 128 + t] = t;
  flipHighBit(arrived);
  out[blockIdx.x * 128 + t] = a[other];
}

// Each block has a flag; each thread waits for that of another block.
__global__ void meetByFlags(int* a, int* flags, int* out) {
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
__global__ void meetByFlagsButOne(int* a, int* flags, int* out) {
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

void meetAll(int* a, int* b, unsigned* done, unsigned* generation, int* out, const int* in, float* x, float* y, int steps, int* flags) {
  meetOnce<<<16, 128>>>(a, done, out, in);
  meetOnceNoFence<<<16, 128>>>(a, done, out, in);
  meetOnceTooFew<<<16, 128>>>(a, done, out, in);
  meetTwice<<<16, 128>>>(a, b, done, out);
  meetTwiceForOne<<<16, 128>>>(a, b, done, out);
  meetEachStep<<<16, 128>>>(x, y, done, steps);
  meetEachOtherStep<<<16, 128>>>(x, y, done, steps);
  meetByGeneration<<<16, 128>>>(x, y, done, generation, steps);
  meetByGenerationNoFence<<<16, 128>>>(x, y, done, generation, steps);
  meetByHighBit<<<16, 128>>>(a, done, out);
  meetByFlags<<<16, 128>>>(a, flags, out);
  meetByFlagsButOne<<<16, 128>>>(a, flags, out);
}
