// expect: lastAfterFenceOfEach race=proved divergence=proved
// expect: lastAfterFenceOfEach silent
// expect: lastNoBarrier race=race divergence=proved
// expect: lastNoBarrier finding race/global error on part lines 42,64
// expect: lastNoBarrier advice "Add `__syncthreads()`, which all threads of the block execute, before the update of `count` on line 67" as in lastAfterFenceOfEach
// expect: lastFencesOfReaders race=proved divergence=proved
// expect: lastFencesOfReaders silent
// expect: lastNoFenceOfReaders race=race divergence=proved
// expect: lastNoFenceOfReaders finding race/global error on part lines 42,91
// expect: lastNoFenceOfReaders advice "Add `__threadfence()` after the update of `count` on line 94" as in lastFencesOfReaders
// expect: lastFenceTooEarly race=race divergence=proved
// expect: lastFenceTooEarly finding race/global error on part lines 42,104
// expect: lastFenceTooEarly advice "Add `__threadfence()` before the update of `count` on line 107" as in lastFencesOfReaders
// expect: lastByOr race=proved divergence=proved
// expect: lastByOr silent
// expect: lastByOrOfOthers race=race divergence=proved
// expect: lastByOrOfOthers finding race/global error on part lines 42,129
// expect: lastByOrOfOthers finding race/global error on out lines 43
// expect: lastByOrOfOthers advice "Let threads get to line 42 only if the value of `count` shows that the other thread has done its access" as in lastByOr
// expect: lastByOrOfOthers advice "Let only one block get to line 43: the one whose value of `count` shows that the others are done" as in lastByOr
// expect: lastByLastThread race=proved divergence=proved
// expect: lastByLastThread silent
// expect: lastByLastThread assumes initial
// expect: lastByTwoThreads race=race divergence=proved
// expect: lastByTwoThreads finding race/global error on part lines 42,157
// expect: lastByTwoThreads advice "Compare the result of the atomic operation on line 161, which is the value before it, with `2 * gridDim.x - 1`"
// expect: lastHistogram race=proved divergence=proved
// expect: lastHistogram silent
// expect: lastHistogramNoBarrier race=race divergence=proved
// expect: lastHistogramNoBarrier finding race/global warning on hist lines 185,191
// expect: lastHistogramNoBarrier advice "Add `__syncthreads()`, which all threads of the block execute, before the update of `count` on line 187" as in lastHistogram
// expect: lastOfColumn race=proved divergence=proved
// expect: lastOfColumn silent
// expect: lastOfRowsCounted race=race divergence=proved
// expect: lastOfRowsCounted finding race/global error on part lines 215,223
// expect: lastOfRowsCounted advice "Compare the result of the atomic operation on line 218, which is the value before it, with `gridDim.y - 1`" as in lastOfColumn
//
// The last block reads what all threads of all blocks have written. Each racy kernel differs from a right one in one step.

__device__ void sumRows(const float* part, float* out) {
  float sum = 0;
  for (int b = 0; b < gridDim.x; ++b) sum += part[b * 128 + threadIdx.x];
  out[threadIdx.x] = sum;
}

// Each writer has a fence before the barrier; the thread that counts has one after its count.
__global__ void lastAfterFenceOfEach(float* part, unsigned* count, float* out, const float* in) {
  __shared__ bool last;
  int t = threadIdx.x;
  part[blockIdx.x * 128 + t] = in[blockIdx.x * 128 + t];
  __threadfence();
  __syncthreads();
  if (t == 0) {
    last = atomicAdd(count, 1u) == gridDim.x - 1;
    __threadfence();
  }
  __syncthreads();
  if (last) sumRows(part, out);
}

__global__ void lastNoBarrier(float* part, unsigned* count, float* out, const float* in) {
  __shared__ bool last;
  int t = threadIdx.x;
  part[blockIdx.x * 128 + t] = in[blockIdx.x * 128 + t];
  __threadfence();
  if (t == 0) {
    last = atomicAdd(count, 1u) == gridDim.x - 1;
    __threadfence();
  }
  __syncthreads();
  if (last) sumRows(part, out);
}

// As the textbook has it: each reader has a fence.
__global__ void lastFencesOfReaders(float* part, unsigned* count, float* out, const float* in) {
  __shared__ bool last;
  int t = threadIdx.x;
  part[blockIdx.x * 128 + t] = in[blockIdx.x * 128 + t];
  __threadfence();
  __syncthreads();
  if (t == 0) last = atomicAdd(count, 1u) == gridDim.x - 1;
  __syncthreads();
  if (!last) return;
  __threadfence();
  sumRows(part, out);
}

__global__ void lastNoFenceOfReaders(float* part, unsigned* count, float* out, const float* in) {
  __shared__ bool last;
  int t = threadIdx.x;
  part[blockIdx.x * 128 + t] = in[blockIdx.x * 128 + t];
  __threadfence();
  __syncthreads();
  if (t == 0) last = atomicAdd(count, 1u) == gridDim.x - 1;
  __syncthreads();
  if (last) sumRows(part, out);
}

// The fence is before the write, so that it publishes nothing.
__global__ void lastFenceTooEarly(float* part, unsigned* count, float* out, const float* in) {
  __shared__ bool last;
  int t = threadIdx.x;
  __threadfence();
  part[blockIdx.x * 128 + t] = in[blockIdx.x * 128 + t];
  __syncthreads();
  if (t == 0) {
    last = atomicAdd(count, 1u) == gridDim.x - 1;
    __threadfence();
  }
  __syncthreads();
  if (last) sumRows(part, out);
}

// All threads learn from a barrier which block is last.
__global__ void lastByOr(float* part, unsigned* count, float* out, const float* in) {
  int t = threadIdx.x;
  part[blockIdx.x * 128 + t] = in[blockIdx.x * 128 + t];
  __threadfence();
  __syncthreads();
  bool own = t == 0 && atomicAdd(count, 1u) == gridDim.x - 1;
  if (!__syncthreads_or(own)) return;
  __threadfence();
  sumRows(part, out);
}

// The barrier counts threads of which none has counted.
__global__ void lastByOrOfOthers(float* part, unsigned* count, float* out, const float* in) {
  int t = threadIdx.x;
  part[blockIdx.x * 128 + t] = in[blockIdx.x * 128 + t];
  __threadfence();
  __syncthreads();
  bool own = t == 0 && atomicAdd(count, 1u) == gridDim.x - 1;
  if (!__syncthreads_or(own || t == 1)) return;
  __threadfence();
  sumRows(part, out);
}

// Thread 127 counts.
__global__ void lastByLastThread(float* part, unsigned* count, float* out, const float* in) {
  __shared__ bool last;
  int t = threadIdx.x;
  part[blockIdx.x * 128 + t] = in[blockIdx.x * 128 + t];
  __syncthreads();
  if (t == blockDim.x - 1) {
    __threadfence();
    last = atomicAdd(count, 1u) == gridDim.x - 1;
    __threadfence();
  }
  __syncthreads();
  if (last) sumRows(part, out);
}

// Two threads of a block count, to the number of blocks.
__global__ void lastByTwoThreads(float* part, unsigned* count, float* out, const float* in) {
  __shared__ bool last[2];
  int t = threadIdx.x;
  part[blockIdx.x * 128 + t] = in[blockIdx.x * 128 + t];
  __syncthreads();
  if (t >= 126) {
    __threadfence();
    last[t - 126] = atomicAdd(count, 1u) == gridDim.x - 1;
    __threadfence();
  }
  __syncthreads();
  if (last[0] || last[1]) sumRows(part, out);
}

__global__ void lastHistogram(int* hist, unsigned* count, int* out, const unsigned char* in, int n) {
  __shared__ bool last;
  int t = threadIdx.x;
  for (int i = blockIdx.x * 256 + t; i < n; i += gridDim.x * 256) atomicAdd(&hist[in[i]], 1);
  __threadfence();
  __syncthreads();
  if (t == 0) last = atomicInc(count, gridDim.x - 1) == gridDim.x - 1;
  __syncthreads();
  if (last) {
    __threadfence();
    out[t] = hist[t];
  }
}

__global__ void lastHistogramNoBarrier(int* hist, unsigned* count, int* out, const unsigned char* in, int n) {
  __shared__ bool last;
  int t = threadIdx.x;
  for (int i = blockIdx.x * 256 + t; i < n; i += gridDim.x * 256) atomicAdd(&hist[in[i]], 1);
  __threadfence();
  if (t == 0) last = atomicInc(count, gridDim.x - 1) == gridDim.x - 1;
  __syncthreads();
  if (last) {
    __threadfence();
    out[t] = hist[t];
  }
}

// Blocks of one column count at one element; the last one adds up the column.
__global__ void lastOfColumn(float* part, unsigned* count, float* out, const float* in) {
  __shared__ bool last;
  int t = threadIdx.x;
  part[(blockIdx.y * 8 + blockIdx.x) * 128 + t] = in[(blockIdx.y * 8 + blockIdx.x) * 128 + t];
  __threadfence();
  __syncthreads();
  if (t == 0) last = atomicAdd(&count[blockIdx.x], 1u) == gridDim.y - 1;
  __syncthreads();
  if (!last) return;
  __threadfence();
  float sum = 0;
  for (int y = 0; y < 4; ++y) sum += part[(y * 8 + blockIdx.x) * 128 + t];
  out[blockIdx.x * 128 + t] = sum;
}

// The counter of the column, and the number of blocks of a row.
__global__ void lastOfRowsCounted(float* part, unsigned* count, float* out, const float* in) {
  __shared__ bool last;
  int t = threadIdx.x;
  part[(blockIdx.y * 4 + blockIdx.x) * 128 + t] = in[(blockIdx.y * 4 + blockIdx.x) * 128 + t];
  __threadfence();
  __syncthreads();
  if (t == 0) last = atomicAdd(&count[blockIdx.x], 1u) == gridDim.x - 1;
  __syncthreads();
  if (!last) return;
  __threadfence();
  float sum = 0;
  for (int y = 0; y < 8; ++y) sum += part[(y * 4 + blockIdx.x) * 128 + t];
  out[blockIdx.x * 128 + t] = sum;
}

void lastOfAll(float* part, unsigned* count, float* out, const float* in, int* hist, int* bins, const unsigned char* bytes, int n) {
  lastAfterFenceOfEach<<<16, 128>>>(part, count, out, in);
  lastNoBarrier<<<16, 128>>>(part, count, out, in);
  lastFencesOfReaders<<<16, 128>>>(part, count, out, in);
  lastNoFenceOfReaders<<<16, 128>>>(part, count, out, in);
  lastFenceTooEarly<<<16, 128>>>(part, count, out, in);
  lastByOr<<<16, 128>>>(part, count, out, in);
  lastByOrOfOthers<<<16, 128>>>(part, count, out, in);
  lastByLastThread<<<16, 128>>>(part, count, out, in);
  lastByTwoThreads<<<16, 128>>>(part, count, out, in);
  lastHistogram<<<16, 256>>>(hist, count, bins, bytes, n);
  lastHistogramNoBarrier<<<16, 256>>>(hist, count, bins, bytes, n);
  lastOfColumn<<<dim3(8, 4), 128>>>(part, count, out, in);
  lastOfRowsCounted<<<dim3(4, 8), 128>>>(part, count, out, in);
}
