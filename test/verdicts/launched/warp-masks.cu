// expect: sumOfWarps race=proved divergence=proved
// expect: sumOfWarps silent
// expect: sumOfWarpsNamesMore race=proved divergence=proved
// expect: sumOfWarpsNamesMore silent
// expect: sumOfWarpsNamesLess race=possible divergence=divergent
// expect: sumOfWarpsNamesLess finding warp/outside-mask error lines 47
// expect: sumOfWarpsNamesLess advice "Name all lanes that execute `__shfl_down_sync()` in the mask: `0x000000ff`" as in sumOfWarps
// expect: askedFor race=proved divergence=proved
// expect: askedFor finding warp/undefined-value warning lines 83
// expect: askedFor advice "Name the source lane in the mask and let it execute `__shfl_xor_sync()`, with a neutral value in a sum"
// expect: askedForMore race=proved divergence=proved
// expect: askedForMore finding warp/undefined-value warning lines 93
// expect: askedForMore advice "Name the source lane in the mask and let it execute `__shfl_xor_sync()`, with a neutral value in a sum"
// expect: active race=proved divergence=proved
// expect: active silent
// expect: activeThenParted race=proved divergence=proved
// expect: activeThenParted finding warp/undefined-value warning lines 111
// expect: activeThenParted advice "Let all lanes of the mask execute `__shfl_sync()` before they return, and guard only what follows"
// expect: activeInRounds race=proved divergence=proved
// expect: activeInRounds silent
// expect: activeThenLeaves race=proved divergence=proved
// expect: activeThenLeaves finding warp/undefined-value warning lines 129
// expect: activeThenLeaves advice "Let all lanes of the mask execute `__shfl_sync()` before they return, and guard only what follows"
// expect: alike race=proved divergence=proved
// expect: alike silent
// expect: alikeThenParted race=proved divergence=proved
// expect: alikeThenParted finding warp/undefined-value warning lines 143
// expect: alikeThenParted advice "Let all lanes of the mask execute `__shfl_sync()` before they return, and guard only what follows"
// expect: fewThenParted race=proved divergence=proved
// expect: fewThenParted finding warp/undefined-value warning lines 151
// expect: partOfMask race=possible divergence=divergent
// expect: partOfMask finding warp/outside-mask error lines 159
// expect: partOfMask advice "Name all lanes that execute `__shfl_sync()` in the mask: `0xffffffff`"
// expect: activeGroup race=proved divergence=proved
// expect: activeGroup silent
// expect: activeGroupThenParted race=proved divergence=proved
// expect: activeGroupThenParted finding warp/undefined-value warning lines 175
// expect: activeGroupThenParted advice "Let all lanes of the group execute `shfl()` before they return, and guard only what follows"
//
// Lanes that a mask names: those, and no others, execute the exchange.
#include <cooperative_groups.h>
#include <cuda_runtime.h>

__device__ float sumOfSums(const float *s, float sum, unsigned mask, int lanes) {
  if (threadIdx.x < lanes) {
    sum = s[threadIdx.x];
    for (int d = 4; d > 0; d /= 2) sum += __shfl_down_sync(mask, sum, d, 8);
  }
  return sum;
}

__device__ void sumWarps(float *out, const float *in, float *s, unsigned mask) {
  float sum = in[blockIdx.x * 256 + threadIdx.x];
  for (int d = 16; d > 0; d /= 2) sum += __shfl_down_sync(0xffffffffu, sum, d);
  if (threadIdx.x % 32 == 0) s[threadIdx.x / 32] = sum;
  __syncthreads();
  sum = sumOfSums(s, sum, mask, 8);
  if (threadIdx.x == 0) out[blockIdx.x] = sum;
}

__global__ void sumOfWarps(float *out, const float *in) {
  __shared__ float s[8];
  sumWarps(out, in, s, (1 << (blockDim.x / 32)) - 1);
}

// It names a lane that does not come.
__global__ void sumOfWarpsNamesMore(float *out, const float *in) {
  __shared__ float s[8];
  sumWarps(out, in, s, 0x1ff);
}

// A lane comes that it does not name.
__global__ void sumOfWarpsNamesLess(float *out, const float *in) {
  __shared__ float s[8];
  sumWarps(out, in, s, 0x7f);
}

__global__ void askedFor(float *out, const float *in, int n) {
  int i = blockIdx.x * 256 + threadIdx.x;
  unsigned mask = __ballot_sync(0xffffffffu, i < n);
  if (i < n) {
    float v = in[i];
    for (int d = 16; d > 0; d /= 2) v += __shfl_xor_sync(mask, v, d);
    out[i] = v;
  }
}

__global__ void askedForMore(float *out, const float *in, int n) {
  int i = blockIdx.x * 256 + threadIdx.x;
  unsigned mask = __ballot_sync(0xffffffffu, i <= n);
  if (i < n) {
    float v = in[i];
    for (int d = 16; d > 0; d /= 2) v += __shfl_xor_sync(mask, v, d);
    out[i] = v;
  }
}

__global__ void active(int *out, int *count, const int *in) {
  int i = blockIdx.x * 256 + threadIdx.x;
  if (in[i] > 0) {
    unsigned mask = __activemask();
    int first = __ffs(mask) - 1, from = 0;
    if (threadIdx.x % 32 == first) from = atomicAdd(count, __popc(mask));
    out[i] = __shfl_sync(mask, from, first);
  }
}

__global__ void activeThenParted(int *out, const int *in) {
  int i = blockIdx.x * 256 + threadIdx.x;
  unsigned mask = __activemask();
  if (in[i] > 0) out[i] = __shfl_sync(mask, i, 0);
}

__global__ void activeInRounds(int *out, int *count, const int *in, int n) {
  for (int i = blockIdx.x * 256 + threadIdx.x; i < n; i += gridDim.x * 256)
    if (in[i] > 0) {
      unsigned mask = __activemask();
      int first = __ffs(mask) - 1, from = 0;
      if (threadIdx.x % 32 == first) from = atomicAdd(count, __popc(mask));
      out[i] = __shfl_sync(mask, from, first);
    }
}

__global__ void activeThenLeaves(int *out, const int *in) {
  int sum = 0;
  for (int k = 0; k < 32; k++) {
    unsigned mask = __activemask();
    if (k == threadIdx.x % 32) break;
    sum += __shfl_sync(mask, k, 0);
  }
  out[blockIdx.x * 256 + threadIdx.x] = sum;
}

__global__ void alike(int *out, const int *in) {
  int i = blockIdx.x * 256 + threadIdx.x, key = in[i];
  unsigned mask = __match_any_sync(0xffffffffu, key);
  out[i] = __shfl_sync(mask, i, __ffs(mask) - 1);
}

__global__ void alikeThenParted(int *out, const int *in) {
  int i = blockIdx.x * 256 + threadIdx.x, key = in[i];
  unsigned mask = __match_any_sync(0xffffffffu, key);
  if (threadIdx.x % 2 == 0) out[i] = __shfl_sync(mask, i, __ffs(mask) - 1);
}

// Few elements are this small.
__global__ void fewThenParted(int *out, const unsigned *in) {
  int i = blockIdx.x * 256 + threadIdx.x;
  if (in[i] < 3) {
    unsigned mask = __activemask();
    if (threadIdx.x % 2 == 0) out[i] = __shfl_sync(mask, i, __ffs(mask) - 1);
  }
}

// Those whose bit is cleared come too.
__global__ void partOfMask(int *out, const int *in) {
  int i = blockIdx.x * 256 + threadIdx.x;
  unsigned mask = __ballot_sync(0xffffffffu, in[i] > 0);
  out[i] = __shfl_sync(mask, i, 0);
}

__global__ void activeGroup(int *out, int *count, const int *in) {
  int i = blockIdx.x * 256 + threadIdx.x;
  if (in[i] > 0) {
    cooperative_groups::coalesced_group group = cooperative_groups::coalesced_threads();
    int from = 0;
    if (group.thread_rank() == 0) from = atomicAdd(count, group.size());
    out[i] = group.shfl(from, 0);
  }
}

__global__ void activeGroupThenParted(int *out, int *count, const int *in) {
  int i = blockIdx.x * 256 + threadIdx.x;
  cooperative_groups::coalesced_group group = cooperative_groups::coalesced_threads();
  if (in[i] > 0) out[i] = group.shfl(i, 0);
}

int main() {
  int *a, *b, *count;
  cudaMalloc(&a, 64 * 256 * sizeof(int));
  cudaMalloc(&b, 64 * 256 * sizeof(int));
  cudaMalloc(&count, sizeof(int));
  sumOfWarps<<<64, 256>>>((float *)b, (float *)a);
  sumOfWarpsNamesMore<<<64, 256>>>((float *)b, (float *)a);
  sumOfWarpsNamesLess<<<64, 256>>>((float *)b, (float *)a);
  askedFor<<<64, 256>>>((float *)b, (float *)a, 16300);
  askedForMore<<<64, 256>>>((float *)b, (float *)a, 16300);
  active<<<64, 256>>>(b, count, a);
  activeThenParted<<<64, 256>>>(b, a);
  activeInRounds<<<32, 256>>>(b, count, a, 16384);
  activeThenLeaves<<<64, 256>>>(b, a);
  alike<<<64, 256>>>(b, a);
  alikeThenParted<<<64, 256>>>(b, a);
  fewThenParted<<<64, 256>>>(b, (unsigned *)a);
  partOfMask<<<64, 256>>>(b, a);
  activeGroup<<<64, 256>>>(b, count, a);
  activeGroupThenParted<<<64, 256>>>(b, count, a);
  return cudaDeviceSynchronize();
}
