// Atomics, and sums of warps.

__device__ __forceinline__ float ofWarp(float v) {
  for (int lanes = 16; lanes > 0; lanes /= 2)
    v += __shfl_down_sync(0xffffffff, v, lanes);
  return v;
}

// changes: the histogram of a block in shared memory
// better: sectors
__global__ void histogram(int *bins, const unsigned char *in, int n) {
#ifdef AFTER
  __shared__ int own[256];
  own[threadIdx.x] = 0;
  __syncthreads();
  for (int k = threadIdx.x; k < n; k += 256)
    atomicAdd(&own[in[blockIdx.x * n + k]], 1);
  __syncthreads();
  atomicAdd(&bins[threadIdx.x], own[threadIdx.x]);
#else
  for (int k = threadIdx.x; k < n; k += 256)
    atomicAdd(&bins[in[blockIdx.x * n + k]], 1);
#endif
}
void callHistogram(int *bins, const unsigned char *in) { histogram<<<16, 256>>>(bins, in, 4096); }

// changes: the histogram of a block in global memory
// worse: sectors
__global__ void tally(int *bins, const unsigned char *in, int n) {
#ifdef AFTER
  for (int k = threadIdx.x; k < n; k += 256)
    atomicAdd(&bins[in[blockIdx.x * n + k]], 1);
#else
  __shared__ int own[256];
  own[threadIdx.x] = 0;
  __syncthreads();
  for (int k = threadIdx.x; k < n; k += 256)
    atomicAdd(&own[in[blockIdx.x * n + k]], 1);
  __syncthreads();
  atomicAdd(&bins[threadIdx.x], own[threadIdx.x]);
#endif
}
void callTally(int *bins, const unsigned char *in) { tally<<<16, 256>>>(bins, in, 4096); }

// changes: shuffles instead of shared memory
// better: divwarps
__global__ void sumUp(float *out, const float *in) {
  float v = in[blockIdx.x * 32 + threadIdx.x];
#ifdef AFTER
  v = ofWarp(v);
#else
  __shared__ float part[32];
  part[threadIdx.x] = v;
  for (int s = 16; s > 0; s /= 2) {
    __syncthreads();
    if (threadIdx.x < s)
      part[threadIdx.x] += part[threadIdx.x + s];
  }
  v = part[0];
#endif
  if (threadIdx.x == 0)
    out[blockIdx.x] = v;
}
void callSumUp(float *out, const float *in) { sumUp<<<64, 32>>>(out, in); }

// changes: a copy through shared memory that nothing needs
// worse: steps
__global__ void passed(float *out, const float *in) {
  int i = blockIdx.x * 128 + threadIdx.x;
#ifdef AFTER
  __shared__ volatile float part[128];
  part[threadIdx.x] = in[i];
  __syncthreads();
  float v = part[threadIdx.x];
  __syncthreads();
  part[threadIdx.x] = v + 1.0f;
  __syncthreads();
  out[i] = part[threadIdx.x];
#else
  out[i] = in[i] + 1.0f;
#endif
}
void callPassed(float *out, const float *in) { passed<<<64, 128>>>(out, in); }
