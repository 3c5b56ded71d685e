// expect: sumAfterReturn race=proved divergence=proved
// expect: sumAfterReturn finding warp/undefined-value warning lines 37
// expect: sumAfterReturn advice "Let all lanes of the mask execute `__shfl_down_sync()` before they return, with a neutral value in a sum, and guard only what follows"
// expect: sumOfAll race=proved divergence=proved
// expect: sumOfAll silent
// expect: sumOfPartOfWarp race=proved divergence=proved
// expect: sumOfPartOfWarp finding warp/undefined-value warning lines 52
// expect: sumOfPartOfWarp advice "Use the value only where the warp has the source lane: the last warp of a block has fewer than 32 lanes unless 32 divides the number of its threads"
// expect: sumWithinPart race=proved divergence=proved
// expect: sumWithinPart silent
// expect: fromOutsideMask race=proved divergence=proved
// expect: fromOutsideMask finding warp/undefined-value warning lines 69
// expect: fromOutsideMask advice "Name the source lane in the mask and let it execute `__shfl_down_sync()`, with a neutral value in a sum"
// expect: fromInsideMask race=proved divergence=proved
// expect: fromInsideMask silent
// expect: unusedAfterReturn race=proved divergence=proved
// expect: unusedAfterReturn silent
// expect: branchAfterReturn race=proved divergence=proved
// expect: branchAfterReturn finding warp/undefined-value warning lines 98
// expect: branchAfterReturn advice "Let all lanes of the mask execute `__shfl_down_sync()` before they return, with a neutral value in a sum, and guard only what follows"
// expect: fewRows race=proved divergence=proved
// expect: fewRows finding warp/undefined-value warning lines 108
// expect: fewRows advice "Let all lanes of the mask execute `__shfl_down_sync()` before they return, with a neutral value in a sum, and guard only what follows"
// expect: manyRows race=proved divergence=proved
// expect: manyRows silent
//
// Values of lanes that have returned, do not exist, or are not named.
#include <cuda_runtime.h>

// Lanes from n on have returned; lane 0 adds what it reads of them.
__global__ void sumAfterReturn(float *out, const float *in, int n) {
  int i = blockIdx.x * 128 + threadIdx.x;
  if (i >= n) return;
  float v = in[i];
#pragma unroll 1
  for (int d = 16; d > 0; d /= 2) {
    v += __shfl_down_sync(0xffffffffu, v, d);
  }
  if (threadIdx.x % 32 == 0) atomicAdd(out, v);
}

__global__ void sumOfAll(float *out, const float *in, int n) {
  int i = blockIdx.x * 128 + threadIdx.x;
  float v = i < n ? in[i] : 0;
  for (int d = 16; d > 0; d /= 2) v += __shfl_down_sync(0xffffffffu, v, d);
  if (threadIdx.x % 32 == 0) atomicAdd(out, v);
}

// A block of 20 threads.
__global__ void sumOfPartOfWarp(int *out, const int *in) {
  int v = in[blockIdx.x * 20 + threadIdx.x];
  for (int d = 16; d > 0; d /= 2) v += __shfl_down_sync(0xffffffffu, v, d);
  if (threadIdx.x == 0) out[blockIdx.x] = v;
}

__global__ void sumWithinPart(int *out, const int *in) {
  int v = in[blockIdx.x * 20 + threadIdx.x];
  for (int d = 16; d > 0; d /= 2) {
    int other = __shfl_down_sync(0xffffffffu, v, d);
    if (threadIdx.x + d < 20) v += other;
  }
  if (threadIdx.x == 0) out[blockIdx.x] = v;
}

// Lane 15 reads lane 16.
__global__ void fromOutsideMask(int *out, const int *in) {
  int t = threadIdx.x, v = in[t];
  if (t < 16) {
    out[t] = __shfl_down_sync(0x0000ffffu, v, 1);
  }
}

__global__ void fromInsideMask(int *out, const int *in) {
  int t = threadIdx.x, v = in[t];
  if (t < 16) {
    out[t] = __shfl_down_sync(0x0000ffffu, v, 1, 16);
  }
}

// What lanes read of those that have returned goes nowhere.
__global__ void unusedAfterReturn(int *out, const int *in, int n) {
  int i = blockIdx.x * 128 + threadIdx.x;
  if (i >= n) return;
  int v = in[i];
  int other = __shfl_down_sync(0xffffffffu, v, 1);
  bool isLast = threadIdx.x % 32 == 31 || i + 1 >= n;
  out[i] = isLast ? v : v + other;
}

__global__ void branchAfterReturn(int *out, const int *in, int n) {
  int i = blockIdx.x * 128 + threadIdx.x;
  if (i >= n) return;
  int v = in[i];
  int sum = 0;
  // The trip count is undefined in the last lane.
#pragma unroll 1
  for (int left =
         __shfl_down_sync(0xffffffffu, v & 7, 1) & 15; left > 0; left--) sum += in[left];
  out[i] = sum;
}

// With one row only column 0 enters the loop, and reads lanes that have returned.
__device__ void addRows(float *out, const float *in) {
  float sum = 0;
  for (int row = threadIdx.x; row < blockDim.z; row += 4) {
    float v = in[row * 8 + threadIdx.y];
#pragma unroll 1
    for (int d = 1; d < 4; d *= 2) v += __shfl_down_sync(0xffffffffu, v, d, 4);
    sum += v;
  }
  if (threadIdx.x == 0 && threadIdx.z == 0) out[blockIdx.x * 8 + threadIdx.y] = sum;
}

__global__ void fewRows(float *out, const float *in) { addRows(out, in); }

__global__ void manyRows(float *out, const float *in) { addRows(out, in); }

int main() {
  float *f, *g;
  int *a, *b;
  cudaMalloc(&f, 64 * 256 * sizeof(float));
  cudaMalloc(&g, 64 * 256 * sizeof(float));
  cudaMalloc(&a, 64 * 256 * sizeof(int));
  cudaMalloc(&b, 64 * 256 * sizeof(int));
  sumAfterReturn<<<8, 128>>>(f, g, 1000);
  sumOfAll<<<8, 128>>>(f, g, 1000);
  sumOfPartOfWarp<<<8, 20>>>(a, b);
  sumWithinPart<<<8, 20>>>(a, b);
  fromOutsideMask<<<1, 32>>>(a, b);
  fromInsideMask<<<1, 32>>>(a, b);
  unusedAfterReturn<<<8, 128>>>(a, b, 1000);
  branchAfterReturn<<<8, 128>>>(a, b, 1000);
  fewRows<<<8, dim3(4, 8, 1)>>>(f, g);
  manyRows<<<8, dim3(4, 8, 4)>>>(f, g);
  return cudaDeviceSynchronize();
}
