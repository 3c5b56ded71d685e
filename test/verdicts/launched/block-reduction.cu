// expect: sumByWarps race=proved divergence=proved
// expect: sumByWarps silent
// expect: sumByWarpsNoBarrier race=race divergence=proved
// expect: sumByWarpsNoBarrier finding race/shared error on part lines 38,40
// expect: sumByWarpsTooMany race=possible divergence=proved
// expect: sumByWarpsTooMany finding memory/out-of-bounds error on part lines 52
// expect: sumAllLanesEqual race=proved divergence=proved
// expect: sumAllLanesEqual assumes equal-value-writes
// expect: sumAllLanesEqual silent
// expect: sumAllLanesDiffer race=race divergence=proved
// expect: sumAllLanesDiffer finding race/shared error on part lines 74
// expect: sumBlocksEqual race=race divergence=proved
// expect: sumBlocksEqual finding race/global warning on first lines 81
// expect: sumByRank race=proved divergence=proved
// expect: sumByRank silent
//
// Sums of a block: each warp by shuffles, then the sums of the warps.

__global__ void sumByWarps(float* out, const float* in) {
  __shared__ float part[8];
  int t = threadIdx.x;
  float sum = in[blockIdx.x * blockDim.x + t];
  for (int d = 16; d > 0; d /= 2) sum += __shfl_down_sync(0xffffffffu, sum, d);
  if (t % 32 == 0) part[t / 32] = sum;
  __syncthreads();
  if (t < 32) {
    sum = t < 8 ? part[t] : 0;
    for (int d = 4; d > 0; d /= 2) sum += __shfl_down_sync(0xffffffffu, sum, d);
    if (t == 0) out[blockIdx.x] = sum;
  }
}

__global__ void sumByWarpsNoBarrier(float* out, const float* in) {
  __shared__ float part[8];
  int t = threadIdx.x;
  float sum = in[blockIdx.x * blockDim.x + t];
  for (int d = 16; d > 0; d /= 2) sum += __shfl_down_sync(0xffffffffu, sum, d);
  if (t % 32 == 0) part[t / 32] = sum;
  if (t < 32) {
    sum = t < 8 ? part[t] : 0;
    for (int d = 4; d > 0; d /= 2) sum += __shfl_down_sync(0xffffffffu, sum, d);
    if (t == 0) out[blockIdx.x] = sum;
  }
}

// Four places for the sums of eight warps.
__global__ void sumByWarpsTooMany(float* out, const float* in) {
  __shared__ float part[4];
  int t = threadIdx.x;
  float sum = in[blockIdx.x * blockDim.x + t];
  for (int d = 16; d > 0; d /= 2) sum += __shfl_down_sync(0xffffffffu, sum, d);
  if (t % 32 == 0) part[t / 32] = sum;
  __syncthreads();
  if (t == 0) out[blockIdx.x] = part[0] + part[1] + part[2] + part[3];
}

// The butterfly computes the same bits in all lanes, and one instruction of the warp stores them.
__global__ void sumAllLanesEqual(float* out, const float* in) {
  __shared__ float part[8];
  int t = threadIdx.x;
  float sum = in[blockIdx.x * blockDim.x + t];
  for (int d = 16; d > 0; d /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, d);
  part[t / 32] = sum;
  __syncthreads();
  if (t < 8) out[blockIdx.x * 8 + t] = part[t];
}

// The same store after shuffles that leave the sum in lane 0 only.
__global__ void sumAllLanesDiffer(float* out, const float* in) {
  __shared__ float part[8];
  int t = threadIdx.x;
  float sum = in[blockIdx.x * blockDim.x + t];
  for (int d = 16; d > 0; d /= 2) sum += __shfl_down_sync(0xffffffffu, sum, d);
  part[t / 32] = sum;
  __syncthreads();
  if (t < 8) out[blockIdx.x * 8 + t] = part[t];
}

// All threads of all blocks store the value that they all read, but not by one instruction of one warp.
__global__ void sumBlocksEqual(float* first, const float* in) {
  first[0] = in[0] + in[1];
}

// A block of two dimensions that only its linear rank reads.
__global__ void sumByRank(float* out, const float* in) {
  __shared__ float s[256];
  int t = threadIdx.y * blockDim.x + threadIdx.x;
  s[t] = in[blockIdx.x * 256 + t];
  __syncthreads();
  for (int d = 128; d > 0; d /= 2) {
    if (t < d) s[t] += s[t + d];
    __syncthreads();
  }
  if (t == 0) out[blockIdx.x] = s[0];
}

void launchSums(float* out, const float* in) {
  sumByWarps<<<64, 256>>>(out, in);
  sumByWarpsNoBarrier<<<64, 256>>>(out, in);
  sumByWarpsTooMany<<<64, 256>>>(out, in);
  sumAllLanesEqual<<<64, 256>>>(out, in);
  sumAllLanesDiffer<<<64, 256>>>(out, in);
  sumBlocksEqual<<<64, 256>>>(out, in);
  sumByRank<<<64, dim3(32, 8)>>>(out, in);
}
