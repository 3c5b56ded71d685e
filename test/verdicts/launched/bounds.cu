// expect: shiftLeft race=proved divergence=proved
// expect: shiftLeft silent
// expect: shiftLeft assumes in-bounds
// expect: shiftLeftTooFar race=possible divergence=proved
// expect: shiftLeftTooFar finding memory/out-of-bounds error on in lines 46
// expect: copyRest race=proved divergence=proved
// expect: copyRest silent
// expect: copyWhole race=possible divergence=proved
// expect: copyWhole finding memory/out-of-bounds error on in lines 59
// expect: lookUp race=proved divergence=proved
// expect: lookUp silent
// expect: lookUpDiagonal race=possible divergence=proved
// expect: lookUpDiagonal finding memory/out-of-bounds error on table lines 73
// expect: rank race=proved divergence=proved
// expect: rank silent
// expect: rankOneBehind race=possible divergence=proved
// expect: rankOneBehind finding memory/out-of-bounds error on ranked lines 91
// expect: addTail race=proved divergence=proved
// expect: addTail silent
// expect: addTailBackwards race=possible divergence=proved
// expect: addTailBackwards finding memory/out-of-bounds error on bins lines 110
// expect: lookUpDimension race=proved divergence=proved
// expect: lookUpDimension silent
// expect: lookUpDimension assumes in-bounds
// expect: lookUpDimensionTooFar race=possible divergence=proved
// expect: lookUpDimensionTooFar finding memory/out-of-bounds error on directions lines 126
// expect: weigh race=proved divergence=proved
// expect: weigh silent
// expect: weighOneBehind race=possible divergence=proved
// expect: weighOneBehind finding memory/out-of-bounds error on weights lines 138
// expect: sumColumnsUnguarded race=possible divergence=proved
// expect: sumColumnsUnguarded finding memory/out-of-bounds error on columns lines 149
//
// Arrays whose extent is stated or declared.

// selvage: assume(extent(in) >= n + 1)
__global__ void shiftLeft(float* out, const float* in, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = in[i + 1];
}

// The last thread reads past the end.
// selvage: assume(extent(in) >= n)
__global__ void shiftLeftTooFar(float* out, const float* in, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = in[i + 1];
}

// selvage: assume(extent(in) >= n)
__global__ void copyRest(float4* out, const float4* in, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = in[i];
}

// No guard excludes the 24 remaining threads.
// selvage: assume(extent(in) >= n)
__global__ void copyWhole(float4* out, const float4* in, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  out[i] = in[i];
}

__device__ float table[2047];

// 1024 x 1024 threads: the sums go from 0 to 2046.
__global__ void lookUp(float* out) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y;
  out[y * 1024 + x] = table[x + y];
}

// Of all threads those with x = y = 1023 read past the end.
__global__ void lookUpDiagonal(float* out) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y;
  if (x == y) out[x] = table[x + y + 1];
}

// Threads in the order in which they draw.
__global__ void rank(int* out) {
  __shared__ int count, ranked[256];
  if (threadIdx.x == 0) count = 0;
  __syncthreads();
  ranked[atomicAdd(&count, 1)] = threadIdx.x;
  __syncthreads();
  out[blockIdx.x * blockDim.x + threadIdx.x] = ranked[threadIdx.x];
}

// The last thread that allocates a slot writes past the end.
__global__ void rankOneBehind(int* out) {
  __shared__ int count, ranked[256];
  if (threadIdx.x == 0) count = 0;
  __syncthreads();
  ranked[atomicAdd(&count, 1) + 1] = threadIdx.x;
  __syncthreads();
  out[blockIdx.x * blockDim.x + threadIdx.x] = ranked[threadIdx.x];
}

// However many there are, only 64 bins are read.
__global__ void addTail(int* out, int n) {
  __shared__ int bins[64];
  for (int b = threadIdx.x; b < 64; b += blockDim.x) bins[b] = b;
  __syncthreads();
  for (int b = threadIdx.x; b < n; b += blockDim.x)
    if (b < 64) atomicAdd(&out[b], bins[b]);
}

// The comparison is inverted: threads past the bins continue upwards.
__global__ void addTailBackwards(int* out) {
  __shared__ int bins[64];
  for (int b = threadIdx.x; b < 64; b += blockDim.x) bins[b] = b;
  __syncthreads();
  for (int b = threadIdx.x; b > 64; b += blockDim.x) atomicAdd(&out[b], bins[b]);
}

__constant__ unsigned directions[3][31];

// A row for each of the three rows of threads.
__global__ void lookUpDimension(unsigned* out, unsigned seed) {
  unsigned result = 0, bits = seed + threadIdx.x;
  for (int bit = 0; bit < 31; bit++, bits >>= 1)
    if (bits & 1) result ^= directions[threadIdx.y][bit];
  out[threadIdx.y * 128 + threadIdx.x] = result;
}

// The launch has four rows of threads.
__global__ void lookUpDimensionTooFar(unsigned* out) {
  unsigned result = 0;
  for (int bit = 0; bit < 31; bit++) result ^= directions[threadIdx.y][bit];
  out[threadIdx.y * 128 + threadIdx.x] = result;
}

__constant__ float weights[256];

__global__ void weigh(float* out) {
  out[threadIdx.x] = threadIdx.x < 255 ? weights[threadIdx.x + 1] : 0.0f;
}

// The last thread reads past the end.
__global__ void weighOneBehind(float* out) {
  out[threadIdx.x] = weights[threadIdx.x + 1];
}

// The guard of the halving loop is missing. The trip count of the loop before it is unknown.
__global__ void sumColumnsUnguarded(unsigned* sums, const unsigned* parts, unsigned rows) {
  __shared__ unsigned columns[128];
  unsigned sum = 0;
  for (unsigned row = threadIdx.x; row < rows; row += 128) sum += parts[blockIdx.x + row * 64];
  columns[threadIdx.x] = sum;
  for (unsigned stride = 64; stride > 0; stride >>= 1) {
    __syncthreads();
    columns[threadIdx.x] += columns[threadIdx.x + stride];
  }
  if (threadIdx.x == 0) sums[blockIdx.x] = columns[0];
}

void launchBounds(float* out, const float* in, float4* quads, const float4* more, unsigned rows) {
  shiftLeft<<<4, 256>>>(out, in, 1000);
  shiftLeftTooFar<<<4, 256>>>(out, in, 1000);
  copyRest<<<4, 256>>>(quads, more, 1000);
  copyWhole<<<4, 256>>>(quads, more, 1000);
  lookUp<<<dim3(4, 1024), 256>>>(out);
  lookUpDiagonal<<<dim3(4, 1024), 256>>>(out);
  rank<<<4, 256>>>((int*)out);
  rankOneBehind<<<4, 256>>>((int*)out);
  addTail<<<4, 256>>>((int*)out, 1000);
  addTailBackwards<<<4, 256>>>((int*)out);
  lookUpDimension<<<1, dim3(128, 3)>>>((unsigned*)out, 7);
  lookUpDimensionTooFar<<<1, dim3(128, 4)>>>((unsigned*)out);
  weigh<<<1, 256>>>(out);
  weighOneBehind<<<1, 256>>>(out);
  sumColumnsUnguarded<<<64, 128>>>((unsigned*)out, (const unsigned*)in, rows);
}
