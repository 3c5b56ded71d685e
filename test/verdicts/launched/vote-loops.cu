// expect: loopOfWarp race=proved divergence=proved
// expect: loopOfWarp silent
// expect: loopOfLanes race=possible divergence=divergent
// expect: loopOfLanes finding warp/missing-lanes error lines 62
// expect: loopOfLanes advice "Let all lanes of the mask execute the same number of iterations, and guard the rest of the loop body instead, with 0 in the others" as in loopOfWarp
// expect: exitOfWarp race=proved divergence=proved
// expect: exitOfWarp silent
// expect: exitOfLanes race=proved divergence=proved
// expect: exitOfLanes finding barrier/early-exit warning lines 82
// expect: exitOfOneOfWarps race=proved divergence=proved
// expect: exitOfOneOfWarps finding barrier/early-exit notice lines 92
// expect: exitByValueOfBlock race=proved divergence=proved
// expect: exitByValueOfBlock silent
// expect: votedIterations race=proved divergence=proved
// expect: votedIterations silent
// expect: roundsOfTiles race=proved divergence=proved
// expect: roundsOfTiles silent
// expect: barrierInRounds race=possible divergence=divergent
// expect: barrierInRounds finding barrier/divergent error lines 132
// expect: barrierInRounds advice "Let all threads of the block execute the same number of iterations, and guard the rest of the loop body instead"
// expect: nextOfQueue race=proved divergence=proved
// expect: nextOfQueue silent
// expect: firstOfBallot race=proved divergence=proved
// expect: firstOfBallot silent
// expect: firstOfBallotAmong race=possible divergence=divergent
// expect: firstOfBallotAmong finding warp/missing-lanes error lines 171
// expect: firstOfBallotAmong advice "Move the loop with `__shfl_sync()` to where all lanes of the mask execute it" as in firstOfBallot
// expect: countOfWarp race=proved divergence=proved
// expect: countOfWarp silent
//
// Loops and guards that a vote ends: its result is one value for all lanes that it names.
#include <cooperative_groups.h>
#include <cuda_runtime.h>

namespace cg = cooperative_groups;

__device__ int sizes[64];

__global__ void loopOfWarp(int *out, const int *in) {
  __shared__ int s[32];
  int n = sizes[blockIdx.x];
  s[threadIdx.x] = 0;
  __syncthreads();
  for (int i = threadIdx.x; __any_sync(0xffffffffu, i < n); i += 32) {
    if (i < n) atomicAdd(&s[in[i] & 31], 1);
  }
  __syncthreads();
  out[blockIdx.x * 32 + threadIdx.x] = s[threadIdx.x];
}

// A lane leaves the loop at its last element and waits after the loop.
__global__ void loopOfLanes(int *out, const int *in) {
  __shared__ int s[32];
  int n = sizes[blockIdx.x];
  s[threadIdx.x] = 0;
  __syncthreads();
  int i = threadIdx.x;
  while (i < 1000 + n % 2) {
    atomicAdd(&s[in[i] & 31], 1);
    i += 32;
    // Whether other lanes go on.
    if (!__any_sync(0xffffffffu, i < 1000 + n % 2)) break;
  }
  __syncthreads();
  out[blockIdx.x * 32 + threadIdx.x] = s[threadIdx.x];
}

__global__ void exitOfWarp(int *out, const int *in) {
  __shared__ int s[32];
  int v = in[blockIdx.x * 32 + threadIdx.x];
  if (__all_sync(0xffffffffu, v < 0)) return;
  s[threadIdx.x] = v;
  __syncthreads();
  out[blockIdx.x * 32 + threadIdx.x] = s[31 - threadIdx.x];
}

__global__ void exitOfLanes(int *out, const int *in) {
  __shared__ int s[32];
  int v = in[blockIdx.x * 32 + threadIdx.x];
  s[threadIdx.x] = v;
  if (v < 0) return;
  __syncthreads();
  out[blockIdx.x * 32 + threadIdx.x] = s[31 - threadIdx.x];
}

__global__ void exitOfOneOfWarps(int *out, const int *in) {
  __shared__ int s[64];
  int v = in[blockIdx.x * 64 + threadIdx.x];
  s[threadIdx.x] = v;
  // The other warp may stay.
  if (__all_sync(0xffffffffu, v < 0)) return;
  __syncthreads();
  out[blockIdx.x * 64 + threadIdx.x] = s[63 - threadIdx.x];
}

__global__ void exitByValueOfBlock(int *out, const int *in, const int *count) {
  __shared__ int s[64];
  if (__all_sync(0xffffffffu, blockIdx.x >= count[0])) return;
  s[threadIdx.x] = in[blockIdx.x * 64 + threadIdx.x];
  __syncthreads();
  out[blockIdx.x * 64 + threadIdx.x] = s[63 - threadIdx.x];
}

__global__ void votedIterations(int *out, const int *in, int n) {
  int best = 0;
  for (int i = blockIdx.x * 128 + threadIdx.x; __any_sync(0xffffffffu, i < n); i += gridDim.x * 128) {
    int v = i < n ? in[i] : 0;
    for (int d = 16; d > 0; d /= 2) v = max(v, __shfl_xor_sync(0xffffffffu, v, d));
    best = max(best, v);
  }
  out[blockIdx.x * 128 + threadIdx.x] = best;
}

__global__ void roundsOfTiles(int *out, const int *in, int n) {
  auto warp = cg::tiled_partition<32>(cg::this_thread_block());
  int sum = 0;
  for (int i = blockIdx.x * 128 + threadIdx.x; warp.any(i < n); i += gridDim.x * 128) {
    int v = i < n ? in[i] : 0;
    sum += warp.shfl_down(v, 1);
    warp.sync();
  }
  out[blockIdx.x * 128 + threadIdx.x] = sum;
}

// Each warp leaves the loop by its own vote.
__global__ void barrierInRounds(int *out, const int *in) {
  __shared__ int s[64];
  int i = threadIdx.x + threadIdx.x / 32 * 1000;
  s[threadIdx.x] = 0;
  while (__any_sync(0xffffffffu, i < 3000)) {
    s[threadIdx.x] += i;
    __syncthreads();
    i += 64;
  }
  out[threadIdx.x] = s[threadIdx.x];
}

// Lane 0 takes the next row for its warp.
__global__ void nextOfQueue(int *out, const int *in, int *next, int rows) {
  int lane = threadIdx.x % 32;
  for (;;) {
    int row = 0;
    if (lane == 0) row = atomicAdd(next, 1);
    row = __shfl_sync(0xffffffffu, row, 0);
    if (row >= rows) break;
    int v = in[row * 32 + lane];
    for (int d = 16; d > 0; d /= 2) v += __shfl_xor_sync(0xffffffffu, v, d);
    if (lane == 0) atomicAdd(out, v);
  }
}

__global__ void firstOfBallot(int *out, const int *in) {
  int i = blockIdx.x * 128 + threadIdx.x;
  unsigned left = __ballot_sync(0xffffffffu, in[i] > 0);
  int sum = 0;
  while (left) {
    int lane = __ffs(left) - 1;
    sum += __shfl_sync(0xffffffffu, i, lane);
    left &= left - 1;
  }
  out[i] = sum;
}

// The lanes that voted no wait at the barrier.
__global__ void firstOfBallotAmong(int *out, const int *in) {
  int i = blockIdx.x * 128 + threadIdx.x, sum = 0;
  unsigned left = __ballot_sync(0xffffffffu, i % 3 > 0);
  if (i % 3 > 0)
    while (left) {
      int lane = __ffs(left) - 1;
      sum += __shfl_sync(0xffffffffu, i, lane);
      left &= left - 1;
    }
  __syncthreads();
  out[i] = sum;
}

__global__ void countOfWarp(int *out, const int *in) {
  int i = blockIdx.x * 128 + threadIdx.x;
  int count = __popc(__ballot_sync(0xffffffffu, in[i] > 0));
  int sum = 0;
  for (int k = 0; k < count; k++) sum += __shfl_up_sync(0xffffffffu, in[i], k % 32);
  out[i] = sum;
}

int main() {
  int *a, *b, *c;
  cudaMalloc(&a, 64 * 256 * sizeof(int));
  cudaMalloc(&b, 64 * 256 * sizeof(int));
  cudaMalloc(&c, sizeof(int));
  loopOfWarp<<<64, 32>>>(a, b);
  loopOfLanes<<<64, 32>>>(a, b);
  exitOfWarp<<<64, 32>>>(a, b);
  exitOfLanes<<<64, 32>>>(a, b);
  exitOfOneOfWarps<<<64, 64>>>(a, b);
  exitByValueOfBlock<<<64, 64>>>(a, b, c);
  votedIterations<<<16, 128>>>(a, b, 10000);
  roundsOfTiles<<<16, 128>>>(a, b, 10000);
  barrierInRounds<<<1, 64>>>(a, b);
  nextOfQueue<<<16, 128>>>(a, b, c, 256);
  firstOfBallot<<<16, 128>>>(a, b);
  firstOfBallotAmong<<<16, 128>>>(a, b);
  countOfWarp<<<16, 128>>>(a, b);
  return cudaDeviceSynchronize();
}
