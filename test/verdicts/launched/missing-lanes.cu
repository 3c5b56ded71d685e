// expect: sumUnderGuard race=possible divergence=divergent
// expect: sumUnderGuard finding warp/missing-lanes error lines 62
// expect: sumUnderGuard advice "Move the loop with `__shfl_down_sync()` to where all lanes of the mask execute it, with a neutral value in a sum" as in sumOfGuarded
// expect: sumOfGuarded race=proved divergence=proved
// expect: sumOfGuarded silent
// expect: halfSyncs race=possible divergence=divergent
// expect: halfSyncs finding warp/missing-lanes error lines 84
// expect: halfSyncs advice "Move `__syncwarp()` to where all lanes of the mask execute it" as in syncsBeforeHalf
// expect: halfSyncsHalf race=proved divergence=proved
// expect: halfSyncsHalf silent
// expect: voteInBranch race=possible divergence=divergent
// expect: voteInBranch finding warp/missing-lanes error lines 106
// expect: voteInBranch advice "Move `__any_sync()` to where all lanes of the mask execute it, with 0 in the others, or, if its result is for lanes that execute it only, name these in the mask: `0x55555555`" as in voteBeforeBranch
// expect: voteBeforeBranch race=proved divergence=proved
// expect: voteBeforeBranch silent
// expect: twoMasks race=possible divergence=divergent
// expect: twoMasks finding warp/missing-lanes error lines 124
// expect: twoMasks advice "Move `__shfl_xor_sync()` to where all lanes of the mask execute it, or, if its result is for lanes that execute it only, name these in the mask: `0x0000ffff`" as in twoHalves
// expect: twoHalves race=proved divergence=proved
// expect: twoHalves silent
// expect: syncOutside race=possible divergence=divergent
// expect: syncOutside finding warp/outside-mask error lines 144
// expect: syncOutside advice "Let only lanes of the mask execute `__syncwarp()`, or name all lanes that execute it in the mask: `0x000001ff`" as in syncInside
// expect: syncInside race=proved divergence=proved
// expect: syncInside silent
// expect: shiftedMaskOutside race=possible divergence=divergent
// expect: shiftedMaskOutside finding warp/outside-mask error lines 161
// expect: shiftedMaskOutside advice "Let only lanes of the mask execute `__reduce_add_sync()`, or name all lanes that execute it in the mask: `0x000001ff`" as in shiftedMask
// expect: shiftedMask race=proved divergence=proved
// expect: shiftedMask silent
// expect: tileUnderGuard race=possible divergence=divergent
// expect: tileUnderGuard finding warp/missing-lanes error lines 180
// expect: tileUnderGuard advice "Move the loop with `shfl_xor()` to where all lanes of the group execute it, with a neutral value in a sum" as in tilesOfAll
// expect: tilesUnderGuard race=proved divergence=proved
// expect: tilesUnderGuard silent
// expect: reduceInLoop race=possible divergence=divergent
// expect: reduceInLoop finding warp/missing-lanes error lines 204
// expect: reduceInLoop advice "Let all lanes of the mask execute the same number of iterations, and guard the rest of the loop body instead, with a value in the others that does not change the result" as in reduceInWholeRounds
// expect: reduceInWholeRounds race=proved divergence=proved
// expect: reduceInWholeRounds silent
// expect: lanesThatLeave race=proved divergence=proved
// expect: lanesThatLeave silent
// expect: syncsBeforeHalf race=proved divergence=proved
// expect: syncsBeforeHalf silent
// expect: tilesOfAll race=proved divergence=proved
// expect: tilesOfAll silent
//
// Lanes that a mask names, and that do not come: they wait elsewhere. Each kernel is followed by a correct one.
#include <cooperative_groups.h>
#include <cuda_runtime.h>

namespace cg = cooperative_groups;

// The lanes from n on wait at the barrier.
__global__ void sumUnderGuard(float *out, const float *in, int n) {
  __shared__ float s[4];
  int i = blockIdx.x * 128 + threadIdx.x;
  if (threadIdx.x < 4) s[threadIdx.x] = 0;
  __syncthreads();
  if (i < n) {
    float v = in[i];
    for (int d = 16; d > 0; d /= 2) v += __shfl_down_sync(0xffffffffu, v, d);
    if (threadIdx.x % 32 == 0) s[threadIdx.x / 32] = v;
  }
  __syncthreads();
  if (threadIdx.x == 0) out[blockIdx.x] = s[0] + s[1] + s[2] + s[3];
}

__global__ void sumOfGuarded(float *out, const float *in, int n) {
  __shared__ float s[4];
  int i = blockIdx.x * 128 + threadIdx.x;
  float v = i < n ? in[i] : 0;
  for (int d = 16; d > 0; d /= 2) v += __shfl_down_sync(0xffffffffu, v, d);
  if (threadIdx.x % 32 == 0) s[threadIdx.x / 32] = v;
  __syncthreads();
  if (threadIdx.x == 0) out[blockIdx.x] = s[0] + s[1] + s[2] + s[3];
}

__global__ void halfSyncs(int *out) {
  __shared__ int s[64];
  int t = threadIdx.x;
  s[t] = t;
  if (t % 32 < 16) {
    __syncwarp();
    s[t] += s[t + 16];
  }
  __syncthreads();
  out[blockIdx.x * 64 + t] = s[t];
}

__global__ void halfSyncsHalf(int *out) {
  __shared__ int s[64];
  int t = threadIdx.x;
  s[t] = t;
  if (t % 32 < 16) {
    __syncwarp(0x0000ffffu);
    s[t] += 1;
  }
  __syncthreads();
  out[blockIdx.x * 64 + t] = s[63 - t];
}

__global__ void voteInBranch(int *out, const int *in) {
  int t = threadIdx.x, any = 0;
  if (t % 2 == 0)
    any = __any_sync(0xffffffffu, in[t] > 0);
  __syncthreads();
  out[t] = any;
}

__global__ void voteBeforeBranch(int *out, const int *in) {
  int t = threadIdx.x, any = 0;
  unsigned even = __ballot_sync(0xffffffffu, t % 2 == 0);
  if (t % 2 == 0)
    any = __any_sync(even, in[t] > 0);
  __syncthreads();
  out[t] = any;
}

// The halves wait for each other with different masks.
__global__ void twoMasks(int *out, const int *in) {
  int t = threadIdx.x, v = in[t];
  if (t % 32 < 16)
    v = __shfl_xor_sync(0xffffffffu, v, 1);
  else
    v = __shfl_xor_sync(0xffff0000u, v, 1);
  __syncthreads();
  out[t] = v;
}

__global__ void twoHalves(int *out, const int *in) {
  int t = threadIdx.x, v = in[t];
  if (t % 32 < 16)
    v = __shfl_xor_sync(0x0000ffffu, v, 1);
  else
    v = __shfl_xor_sync(0xffff0000u, v, 1);
  __syncthreads();
  out[t] = v;
}

__global__ void syncOutside(int *out) {
  int t = threadIdx.x;
  unsigned lower = __ballot_sync(0xffffffffu, t % 32 < 8);
  if (t % 32 <= 8) __syncwarp(lower);
  out[blockIdx.x * 64 + t] = t;
}

__global__ void syncInside(int *out) {
  int t = threadIdx.x;
  unsigned lower = __ballot_sync(0xffffffffu, t % 32 <= 8);
  if (t % 32 <= 8) __syncwarp(lower);
  out[blockIdx.x * 64 + t] = t;
}

__global__ void shiftedMaskOutside(int *out, const int *in) {
  int t = threadIdx.x, groups = blockDim.x / 32;
  int v = in[t];
  if (t <= groups) {
    unsigned mask = (1u << groups) - 1;
    // Lane `groups` comes too.
    v = __reduce_add_sync(mask, v);
  }
  out[t] = v;
}

__global__ void shiftedMask(int *out, const int *in) {
  int t = threadIdx.x, groups = blockDim.x / 32;
  int v = in[t];
  if (t < groups) v = __reduce_add_sync((1u << groups) - 1, v);
  out[t] = v;
}

// Half of the tiles wait for lanes that are at the barrier.
__global__ void tileUnderGuard(int *out, const int *in) {
  __shared__ int s[64];
  auto tile = cg::tiled_partition<16>(cg::this_thread_block());
  int t = threadIdx.x, v = in[t];
  if (t < 24) {
    for (int d = 8; d > 0; d /= 2)
      v += tile.shfl_xor(v, d);
  }
  s[t] = v;
  __syncthreads();
  out[t] = s[63 - t];
}

__global__ void tilesUnderGuard(int *out, const int *in) {
  __shared__ int s[64];
  auto tile = cg::tiled_partition<16>(cg::this_thread_block());
  int t = threadIdx.x, v = in[t];
  if (t < 16) {
    for (int d = 8; d > 0; d /= 2) v += tile.shfl_xor(v, d);
  }
  s[t] = v;
  __syncthreads();
  out[t] = s[63 - t];
}

// In the last iteration some lanes have left the loop and wait after it.
__global__ void reduceInLoop(int *out, const int *in, int n) {
  int sum = 0;
  for (int i = threadIdx.x; i < n; i += 64) {
    int v = in[i];
    sum += __reduce_max_sync(0xffffffffu, v);
  }
  __syncthreads();
  out[threadIdx.x] = sum;
}

__global__ void reduceInWholeRounds(int *out, const int *in, int n) {
  int sum = 0;
  for (int from = 0; from < n; from += 64) {
    int i = from + threadIdx.x;
    sum += __reduce_max_sync(0xffffffffu, i < n ? in[i] : 0);
  }
  __syncthreads();
  out[threadIdx.x] = sum;
}

// The lanes that do not come return: no lane waits for them or reads their values.
__global__ void lanesThatLeave(int *out, const int *in) {
  int t = threadIdx.x, v = in[t];
  if (t % 32 < 16) {
    for (int d = 8; d > 0; d /= 2) v += __shfl_down_sync(0xffffffffu, v, d, 16);
    if (t % 32 == 0) out[t / 32] = v;
  }
}

__global__ void syncsBeforeHalf(int *out) {
  __shared__ int s[64];
  int t = threadIdx.x;
  s[t] = t;
  __syncwarp();
  if (t % 32 < 16) s[t] += s[t + 16];
  __syncthreads();
  out[blockIdx.x * 64 + t] = s[t];
}

__global__ void tilesOfAll(int *out, const int *in) {
  __shared__ int s[64];
  auto tile = cg::tiled_partition<16>(cg::this_thread_block());
  int t = threadIdx.x, v = in[t], sum = t < 24 ? v : 0;
  for (int d = 8; d > 0; d /= 2) sum += tile.shfl_xor(sum, d);
  s[t] = t < 24 ? sum : v;
  __syncthreads();
  out[t] = s[63 - t];
}

int main() {
  float *f, *g;
  int *a, *b;
  cudaMalloc(&f, 64 * 256 * sizeof(float));
  cudaMalloc(&g, 64 * 256 * sizeof(float));
  cudaMalloc(&a, 64 * 256 * sizeof(int));
  cudaMalloc(&b, 64 * 256 * sizeof(int));
  sumUnderGuard<<<8, 128>>>(f, g, 1000);
  sumOfGuarded<<<8, 128>>>(f, g, 1000);
  halfSyncs<<<4, 64>>>(a);
  halfSyncsHalf<<<4, 64>>>(a);
  voteInBranch<<<1, 64>>>(a, b);
  voteBeforeBranch<<<1, 64>>>(a, b);
  twoMasks<<<1, 64>>>(a, b);
  twoHalves<<<1, 64>>>(a, b);
  syncOutside<<<4, 64>>>(a);
  syncInside<<<4, 64>>>(a);
  shiftedMaskOutside<<<1, 256>>>(a, b);
  shiftedMask<<<1, 256>>>(a, b);
  tileUnderGuard<<<1, 64>>>(a, b);
  tilesUnderGuard<<<1, 64>>>(a, b);
  reduceInLoop<<<1, 64>>>(a, b, 1000);
  reduceInWholeRounds<<<1, 64>>>(a, b, 1000);
  lanesThatLeave<<<1, 64>>>(a, b);
  syncsBeforeHalf<<<4, 64>>>(a);
  tilesOfAll<<<1, 64>>>(a, b);
  return cudaDeviceSynchronize();
}
