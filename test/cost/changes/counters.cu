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

// changes: an unnecessary copy through shared memory
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

// changes: one atomic of a warp instead of one of each thread
// neutral
__global__ void sumAll(float *sum, const float *in) {
  float v = in[blockIdx.x * 256 + threadIdx.x];
#ifdef AFTER
  v = ofWarp(v);
  if (threadIdx.x % 32 == 0)
#endif
    atomicAdd(sum, v);
}
void callSumAll(float *sum, const float *in) { sumAll<<<64, 256>>>(sum, in); }

// changes: one atomic of each thread instead of one of a warp
// told: atomics wait 15872 turns for others at the same address, and did not before
__global__ void sumEach(float *sum, const float *in) {
  float v = in[blockIdx.x * 256 + threadIdx.x];
#ifndef AFTER
  v = ofWarp(v);
  if (threadIdx.x % 32 == 0)
#endif
    atomicAdd(&sum[blockIdx.x / 128], v);
}
void callSumEach(float *sum, const float *in) { sumEach<<<64, 256>>>(sum, in); }

// changes: copies to shared memory that do not pass through registers
// neutral
__global__ void reversed(float *out, const float *in) {
  __shared__ float tile[256];
#ifdef AFTER
  unsigned to = (unsigned)__cvta_generic_to_shared(&tile[threadIdx.x]);
  asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" ::"r"(to), "l"(&in[blockIdx.x * 256 + threadIdx.x]) : "memory");
  asm volatile("cp.async.wait_all;" ::: "memory");
#else
  tile[threadIdx.x] = in[blockIdx.x * 256 + threadIdx.x];
#endif
  __syncthreads();
  out[blockIdx.x * 256 + threadIdx.x] = tile[255 - threadIdx.x];
}
void callReversed(float *out, const float *in) { reversed<<<64, 256>>>(out, in); }

// changes: constants of double precision
// told: 0.1 is a double literal and promotes the float arithmetic to double; write 0.1f
__global__ void fade(float *out, const float *in) {
  int i = blockIdx.x * 256 + threadIdx.x;
#ifdef AFTER
  out[i] = in[i] * 0.1 + 0.3f;
#else
  out[i] = in[i] * 0.1f + 0.3f;
#endif
}
void callFade(float *out, const float *in) { fade<<<64, 256>>>(out, in); }

// changes: a constant of double precision under a root
// told: 0.5 is a double literal and promotes the float arithmetic to double; write 0.5f
__global__ void distance(float *out, const float *in) {
  int i = blockIdx.x * 256 + threadIdx.x;
#ifdef AFTER
  out[i] = sqrt(0.5 * in[i] + 2.0f);
#else
  out[i] = sqrt(0.5f * in[i] + 2.0f);
#endif
}
void callDistance(float *out, const float *in) { distance<<<64, 256>>>(out, in); }
