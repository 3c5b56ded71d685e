// expect: layerNorm race=proved divergence=proved
// expect: layerNorm silent
// expect: layerNormPartialsEarly race=race divergence=proved
// expect: layerNormPartialsEarly finding race/shared error on part lines 52,54
// expect: normPerWarp race=proved divergence=proved
// expect: normPerWarp silent
// expect: normPerWarpOverlap race=race divergence=proved
// expect: normPerWarpOverlap finding race/global error on out lines 76
// expect: meanPerWarpAllLanes race=race divergence=proved
// expect: meanPerWarpAllLanes finding race/global error on mean lines 86
//
// Layer norm by a block for each row, and root mean square norm by a warp for each row.

__device__ float warpSum(float v) {
  for (int d = 16; d > 0; d /= 2) v += __shfl_xor_sync(0xffffffffu, v, d);
  return v;
}

__global__ void layerNorm(float* out, const float* in, const float* weight, int cols) {
  __shared__ float part[8], squares[8];
  const float* x = in + blockIdx.x * cols;
  int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  float sum = 0, square = 0;
  for (int c = threadIdx.x; c < cols; c += blockDim.x) {
    sum += x[c];
    square += x[c] * x[c];
  }
  sum = warpSum(sum);
  square = warpSum(square);
  if (lane == 0) {
    part[warp] = sum;
    squares[warp] = square;
  }
  __syncthreads();
  sum = square = 0;
  for (int w = 0; w < 8; w++) {
    sum += part[w];
    square += squares[w];
  }
  float mean = sum / cols, scale = rsqrtf(square / cols - mean * mean + 1e-5f);
  for (int c = threadIdx.x; c < cols; c += blockDim.x) out[blockIdx.x * cols + c] = (x[c] - mean) * scale * weight[c];
}

// No barrier between the partial sums of the warps and their reader.
__global__ void layerNormPartialsEarly(float* out, const float* in, int cols) {
  __shared__ float part[8];
  const float* x = in + blockIdx.x * cols;
  int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  float sum = 0;
  for (int c = threadIdx.x; c < cols; c += blockDim.x) sum += x[c];
  sum = warpSum(sum);
  if (lane == 0) part[warp] = sum;
  sum = 0;
  for (int w = 0; w < 8; w++) sum += part[w];
  for (int c = threadIdx.x; c < cols; c += blockDim.x) out[blockIdx.x * cols + c] = x[c] - sum / cols;
}

__global__ void normPerWarp(float* out, const float* in, int rows, int cols) {
  int row = blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32, lane = threadIdx.x % 32;
  if (row >= rows) return;
  const float* x = in + row * cols;
  float square = 0;
  for (int c = lane; c < cols; c += 32) square += x[c] * x[c];
  float scale = rsqrtf(warpSum(square) / cols + 1e-5f);
  for (int c = lane; c < cols; c += 32) out[row * cols + c] = x[c] * scale;
}

// A block has eight warps, and the next block begins four rows further on: two blocks store different values in a row.
__global__ void normPerWarpOverlap(float* out, const float* in, int rows, int cols) {
  int row = blockIdx.x * 4 + threadIdx.x / 32, lane = threadIdx.x % 32;
  if (row >= rows) return;
  const float* x = in + row * cols;
  float square = 0;
  for (int c = lane; c < cols; c += 32) square += x[c] * x[c];
  float scale = rsqrtf(warpSum(square) / cols + 1e-5f);
  for (int c = lane; c < cols; c += 32) out[row * cols + c] = x[c] * scale + blockIdx.x;
}

// After the shuffles only lane 0 has the sum of the row, and every lane stores its own.
__global__ void meanPerWarpAllLanes(float* mean, const float* in, int rows, int cols) {
  int row = blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32, lane = threadIdx.x % 32;
  if (row >= rows) return;
  float sum = 0;
  for (int c = lane; c < cols; c += 32) sum += in[row * cols + c];
  for (int d = 16; d > 0; d /= 2) sum += __shfl_down_sync(0xffffffffu, sum, d);
  mean[row] = sum / cols;
}

void launchNorms(float* out, const float* in, const float* weight) {
  layerNorm<<<100, 256>>>(out, in, weight, 1000);
  layerNormPartialsEarly<<<100, 256>>>(out, in, 1000);
  normPerWarp<<<13, 256>>>(out, in, 100, 1000);
  normPerWarpOverlap<<<25, 256>>>(out, in, 100, 1000);
  meanPerWarpAllLanes<<<13, 256>>>(out, in, 100, 1000);
}
