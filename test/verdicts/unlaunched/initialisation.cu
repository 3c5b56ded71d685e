// expect: sumRestOfTile race=proved divergence=proved
// expect: sumRestOfTile silent
// expect: sumTailUnwritten race=proved divergence=proved
// expect: sumTailUnwritten finding memory/uninitialised error on s lines 61
// expect: sumWarps race=proved divergence=proved
// expect: sumWarps silent
// expect: sumWarpsAll race=proved divergence=proved
// expect: sumWarpsAll finding memory/uninitialised error on part lines 91
// expect: markFirst race=proved divergence=proved
// expect: markFirst silent
// expect: markFirstUncleared race=proved divergence=proved
// expect: markFirstUncleared finding memory/uninitialised error on isFirst lines 110
// expect: permute race=proved divergence=proved
// expect: permute silent
// expect: permuteHalf race=proved divergence=proved
// expect: permuteHalf finding memory/uninitialised error on order lines 128
// expect: streamTiles race=proved divergence=proved
// expect: streamTiles silent
// expect: streamTiles precondition "blockDim.x <= 128"
// expect: streamTilesEarly race=proved divergence=proved
// expect: streamTilesEarly finding memory/uninitialised error on stage lines 157
// expect: streamTilesEarly precondition "blockDim.x <= 128"
// expect: keepPositive race=proved divergence=proved
// expect: keepPositive silent
// expect: keepPositive precondition "blockDim.x <= 256"
// expect: transposeSquare race=proved divergence=proved
// expect: transposeSquare silent
// expect: transposeSquare precondition "blockDim.x <= 32"
// expect: transposeSquare precondition "blockDim.y <= 8"
// expect: addAll race=proved divergence=proved
// expect: addAll silent
// expect: addAllUncleared race=proved divergence=proved
// expect: addAllUncleared finding memory/uninitialised error on sum lines 199
//
// Shared memory that is read before any thread of the block has written it, at launches that nothing states.

#include <cuda_pipeline.h>
#include <cuda_runtime.h>

// Threads after the end of the array write 0.
__global__ void sumRestOfTile(float* out, const float* in, int n) {
  __shared__ float s[256];
  const int t = threadIdx.x, i = blockIdx.x * 256 + t;
  s[t] = i < n ? in[i] : 0.0f;
  __syncthreads();
  if (t == 0) {
    float sum = 0;
    for (int k = 0; k < 256; ++k) sum += s[k];
    out[blockIdx.x] = sum;
  }
}

// Threads after the end of the array write nothing.
__global__ void sumTailUnwritten(float* out, const float* in, int n) {
  __shared__ float s[256];
  const int t = threadIdx.x, i = blockIdx.x * 256 + t;
  if (i < n) s[t] = in[i];
  __syncthreads();
  if (t == 0) {
    float sum = 0;
    for (int k = 0; k < 256; ++k) sum += s[k];
    out[blockIdx.x] = sum;
  }
}

// The first warp reads the parts of the warps that exist.
__global__ void sumWarps(float* out, const float* in) {
  __shared__ float part[32];
  const int t = threadIdx.x;
  float v = in[blockIdx.x * blockDim.x + t];
  for (int d = 16; d > 0; d /= 2) v += __shfl_xor_sync(0xffffffff, v, d);
  if (t % 32 == 0) part[t / 32] = v;
  __syncthreads();
  if (t < 32) {
    v = t < blockDim.x / 32 ? part[t] : 0.0f;
    for (int d = 16; d > 0; d /= 2) v += __shfl_xor_sync(0xffffffff, v, d);
    if (t == 0) out[blockIdx.x] = v;
  }
}

// The first warp reads 32 parts, but a block of 256 threads has 8 warps.
// selvage: block=256 grid=64
__global__ void sumWarpsAll(float* out, const float* in) {
  __shared__ float part[32];
  const int t = threadIdx.x;
  float v = in[blockIdx.x * blockDim.x + t];
  for (int d = 16; d > 0; d /= 2) v += __shfl_xor_sync(0xffffffff, v, d);
  if (t % 32 == 0) part[t / 32] = v;
  __syncthreads();
  if (t < 32) {
    v = part[t];
    for (int d = 16; d > 0; d /= 2) v += __shfl_xor_sync(0xffffffff, v, d);
    if (t == 0) out[blockIdx.x] = v;
  }
}

// The flag of the block is cleared first.
__global__ void markFirst(int* out) {
  __shared__ int isFirst;
  if (threadIdx.x == 0) isFirst = blockIdx.x == 0;
  __syncthreads();
  if (isFirst) out[threadIdx.x] = 1;
}

// In other blocks than the first the flag has any value.
__global__ void markFirstUncleared(int* out) {
  __shared__ int isFirst;
  if (threadIdx.x == 0 && blockIdx.x == 0) isFirst = 1;
  __syncthreads();
  if (isFirst) out[blockIdx.x * blockDim.x + threadIdx.x] = 1;
}

// The order of the elements, by position.
__global__ void permute(float* out, const float* in) {
  __shared__ int order[64];
  const int t = threadIdx.x;
  if (t < 64) order[t] = 63 - t;
  __syncthreads();
  if (t < 64) out[64 * blockIdx.x + t] = in[64 * blockIdx.x + order[t]];
}

// Half of the order is not written, and is used as an index.
__global__ void permuteHalf(float* out, const float* in) {
  __shared__ int order[64];
  const int t = threadIdx.x;
  if (t < 32) order[t] = 63 - t;
  __syncthreads();
  if (t < 64) out[64 * blockIdx.x + t] = in[64 * blockIdx.x + (order[t] & 63)];
}

// Each step reads the stage that was copied in the step before.
__global__ void streamTiles(float* out, const float* in, int steps) {
  __shared__ float stage[2][128];
  const int t = threadIdx.x;
  float sum = 0;
  __pipeline_memcpy_async(&stage[0][t], &in[t], 4);
  __pipeline_commit();
  for (int k = 0; k < steps; ++k) {
    if (k + 1 < steps) __pipeline_memcpy_async(&stage[(k + 1) % 2][t], &in[(k + 1) * 128 + t], 4);
    __pipeline_commit();
    __pipeline_wait_prior(1);
    __syncthreads();
    sum += stage[k % 2][127 - t];
    __syncthreads();
  }
  out[blockIdx.x * 128 + t] = sum;
}

// The first step reads the second stage, before anything is copied to it.
__global__ void streamTilesEarly(float* out, const float* in, int steps) {
  __shared__ float stage[2][128];
  const int t = threadIdx.x;
  float sum = 0;
  stage[0][t] = in[t];
  __syncthreads();
  for (int k = 0; k < steps; ++k) {
    sum += stage[(k + 1) % 2][127 - t];
    __syncthreads();
    stage[(k + 1) % 2][t] = in[(k + 1) * 128 + t];
    __syncthreads();
  }
  out[blockIdx.x * 128 + t] = sum;
}

// Which elements are written depends on the data, and so does the number of those that are read.
__global__ void keepPositive(float* out, const float* in) {
  __shared__ float kept[256];
  __shared__ int count;
  const int t = threadIdx.x;
  if (t == 0) count = 0;
  __syncthreads();
  const float x = in[256 * blockIdx.x + t];
  if (x > 0) kept[atomicAdd(&count, 1)] = x;
  __syncthreads();
  if (t < count) out[256 * blockIdx.x + t] = kept[t];
}

// Columns of padding are never written, nor read.
__global__ void transposeSquare(float* out, const float* in) {
  __shared__ float tile[32][33];
  for (int row = threadIdx.y; row < 32; row += 8) tile[row][threadIdx.x] = in[(32 * blockIdx.x + row) * 32 + threadIdx.x];
  __syncthreads();
  for (int row = threadIdx.y; row < 32; row += 8) out[(32 * blockIdx.x + row) * 32 + threadIdx.x] = tile[threadIdx.x][row];
}

// The sum starts at 0.
__global__ void addAll(float* out, const float* in) {
  __shared__ float sum;
  if (threadIdx.x == 0) sum = 0;
  __syncthreads();
  atomicAdd(&sum, in[blockIdx.x * blockDim.x + threadIdx.x]);
  __syncthreads();
  if (threadIdx.x == 0) out[blockIdx.x] = sum;
}

// The sum starts at what an earlier block left.
__global__ void addAllUncleared(float* out, const float* in) {
  __shared__ float sum;
  atomicAdd(&sum, in[blockIdx.x * blockDim.x + threadIdx.x]);
  __syncthreads();
  if (threadIdx.x == 0) out[blockIdx.x] = sum;
}
