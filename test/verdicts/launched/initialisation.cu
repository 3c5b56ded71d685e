// expect: sumBlock race=proved divergence=proved
// expect: sumBlock silent
// expect: sumBlockShort race=proved divergence=proved
// expect: sumBlockShort finding memory/uninitialised error on s lines 39
// expect: countValues race=proved divergence=proved
// expect: countValues silent
// expect: countValuesUncleared race=proved divergence=proved
// expect: countValuesUncleared finding memory/uninitialised error on bins lines 59
// expect: smoothRow race=proved divergence=proved
// expect: smoothRow silent
// expect: smoothRowNoStart race=proved divergence=proved
// expect: smoothRowNoStart finding memory/uninitialised error on s lines 82
//
// Shared memory that is read before any thread of the block has written it, at given launches.

#include <cuda_runtime.h>

// All 256 elements are written before they are added.
__global__ void sumBlock(float* out, const float* in, int n) {
  __shared__ float s[256];
  const int t = threadIdx.x;
  if (t < n) s[t] = in[t];
  __syncthreads();
  if (t == 0) {
    float sum = 0;
    for (int i = 0; i < 256; ++i) sum += s[i];
    *out = sum;
  }
}

// The launch passes 100: the other 156 elements are what an earlier block left.
__global__ void sumBlockShort(float* out, const float* in, int n) {
  __shared__ float s[256];
  const int t = threadIdx.x;
  if (t < n) s[t] = in[t];
  __syncthreads();
  if (t == 0) {
    float sum = 0;
    for (int i = 0; i < 256; ++i) sum += s[i];
    *out = sum;
  }
}

// The counters of the block start at 0.
__global__ void countValues(int* out, const unsigned char* in) {
  __shared__ int bins[64];
  const int t = threadIdx.x;
  if (t < 64) bins[t] = 0;
  __syncthreads();
  atomicAdd(&bins[in[blockIdx.x * 256 + t] % 64], 1);
  __syncthreads();
  if (t < 64) atomicAdd(&out[t], bins[t]);
}

// Nothing clears the counters.
__global__ void countValuesUncleared(int* out, const unsigned char* in) {
  __shared__ int bins[64];
  const int t = threadIdx.x;
  atomicAdd(&bins[in[blockIdx.x * 256 + t] % 64], 1);
  __syncthreads();
  if (t < 64) atomicAdd(&out[t], bins[t]);
}

// The first and the last thread also load the neighbours of the tile.
__global__ void smoothRow(float* out, const float* in) {
  __shared__ float s[258];
  const int t = threadIdx.x, i = blockIdx.x * 256 + t;
  s[t + 1] = in[i + 1];
  if (t == 0) s[0] = in[i];
  if (t == 255) s[257] = in[i + 2];
  __syncthreads();
  out[i] = s[t] + s[t + 1] + s[t + 2];
}

// The neighbour before the tile is not loaded.
__global__ void smoothRowNoStart(float* out, const float* in) {
  __shared__ float s[258];
  const int t = threadIdx.x, i = blockIdx.x * 256 + t;
  s[t + 1] = in[i + 1];
  if (t == 255) s[257] = in[i + 2];
  __syncthreads();
  out[i] = s[t] + s[t + 1] + s[t + 2];
}

int main() {
  float *in, *out;
  int* counts;
  unsigned char* bytes;
  cudaMalloc(&in, 1 << 16);
  cudaMalloc(&out, 1 << 15);
  cudaMalloc(&counts, 64 * sizeof(int));
  cudaMalloc(&bytes, 1 << 12);
  sumBlock<<<1, 256>>>(out, in, 256);
  sumBlockShort<<<1, 256>>>(out, in, 100);
  countValues<<<16, 256>>>(counts, bytes);
  countValuesUncleared<<<16, 256>>>(counts, bytes);
  smoothRow<<<16, 256>>>(out, in);
  smoothRowNoStart<<<16, 256>>>(out, in);
  return cudaDeviceSynchronize();
}
