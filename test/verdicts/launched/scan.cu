// expect: scanInclusive race=proved divergence=proved
// expect: scanInclusive silent
// expect: scanOneBarrier race=race divergence=proved
// expect: scanOneBarrier finding race/shared error on s lines 37,38
// expect: scanTwoBuffers race=proved divergence=proved
// expect: scanTwoBuffers silent
// expect: scanTwoBuffersShort race=possible divergence=proved
// expect: scanTwoBuffersShort finding memory/out-of-bounds error on s lines 63
// expect: scanTree race=proved divergence=proved
// expect: scanTree silent
// expect: scanTreeNoBarrier race=race divergence=proved
// expect: scanTreeNoBarrier finding race/shared error on s lines 102,105
//
// Prefix sums of blocks of 256 elements.

// Hillis and Steele: one barrier between reads and writes, one between writes and the reads of the next iteration.
__global__ void scanInclusive(int* out, const int* in) {
  __shared__ int s[256];
  int t = threadIdx.x, i = blockIdx.x * 256 + t;
  s[t] = in[i];
  __syncthreads();
  for (int d = 1; d < 256; d *= 2) {
    int left = t >= d ? s[t - d] : 0;
    __syncthreads();
    s[t] += left;
    __syncthreads();
  }
  out[i] = s[t];
}

__global__ void scanOneBarrier(int* out, const int* in) {
  __shared__ int s[256];
  int t = threadIdx.x, i = blockIdx.x * 256 + t;
  s[t] = in[i];
  __syncthreads();
  for (int d = 1; d < 256; d *= 2) {
    int left = t >= d ? s[t - d] : 0;
    s[t] += left;
    __syncthreads();
  }
  out[i] = s[t];
}

// Two halves of one array alternate, so that one barrier in each iteration is enough.
__global__ void scanTwoBuffers(int* out, const int* in) {
  __shared__ int s[512];
  int t = threadIdx.x, i = blockIdx.x * 256 + t, from = 0, to = 256;
  s[from + t] = in[i];
  for (int d = 1; d < 256; d *= 2) {
    __syncthreads();
    s[to + t] = s[from + t] + (t >= d ? s[from + t - d] : 0);
    int other = from;
    from = to;
    to = other;
  }
  out[i] = s[from + t];
}

// The array is made for blocks of 256, and launched with 512.
__global__ void scanTwoBuffersShort(int* out, const int* in) {
  __shared__ int s[256];
  int t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
  s[t] = in[i];
  __syncthreads();
  out[i] = s[t / 2];
}

// Blelloch: up the tree and down again, two elements a thread.
__global__ void scanTree(int* out, const int* in) {
  __shared__ int s[512];
  int t = threadIdx.x, base = blockIdx.x * 512, offset = 1;
  s[2 * t] = in[base + 2 * t];
  s[2 * t + 1] = in[base + 2 * t + 1];
  for (int d = 256; d > 0; d >>= 1) {
    __syncthreads();
    if (t < d) s[offset * (2 * t + 2) - 1] += s[offset * (2 * t + 1) - 1];
    offset *= 2;
  }
  if (t == 0) s[511] = 0;
  for (int d = 1; d < 512; d *= 2) {
    offset >>= 1;
    __syncthreads();
    if (t < d) {
      int left = s[offset * (2 * t + 1) - 1];
      s[offset * (2 * t + 1) - 1] = s[offset * (2 * t + 2) - 1];
      s[offset * (2 * t + 2) - 1] += left;
    }
  }
  __syncthreads();
  out[base + 2 * t] = s[2 * t];
  out[base + 2 * t + 1] = s[2 * t + 1];
}

// Another thread clears the last element, without a barrier before that.
__global__ void scanTreeNoBarrier(int* out, const int* in) {
  __shared__ int s[512];
  int t = threadIdx.x, base = blockIdx.x * 512, offset = 1;
  s[2 * t] = in[base + 2 * t];
  s[2 * t + 1] = in[base + 2 * t + 1];
  for (int d = 256; d > 0; d >>= 1) {
    __syncthreads();
    if (t < d) s[offset * (2 * t + 2) - 1] += s[offset * (2 * t + 1) - 1];
    offset *= 2;
  }
  if (t == 255) s[511] = 0;
  __syncthreads();
  out[base + 2 * t] = s[2 * t];
  out[base + 2 * t + 1] = s[2 * t + 1];
}

void launchScan(int* out, const int* in) {
  scanInclusive<<<64, 256>>>(out, in);
  scanOneBarrier<<<64, 256>>>(out, in);
  scanTwoBuffers<<<64, 256>>>(out, in);
  scanTwoBuffersShort<<<64, 512>>>(out, in);
  scanTree<<<64, 256>>>(out, in);
  scanTreeNoBarrier<<<64, 256>>>(out, in);
}
