// expect: multiplyInHalf race=possible divergence=divergent
// expect: multiplyInHalf finding warp/missing-lanes error lines 31
// expect: multiplyInWarp race=proved divergence=proved
// expect: multiplyInWarp silent
// expect: loadAfterReturn race=possible divergence=divergent
// expect: loadAfterReturn finding warp/missing-lanes error lines 50
// expect: loadOfAll race=proved divergence=proved
// expect: loadOfAll silent
//
// Matrix instructions, which all lanes of a warp have to execute.
#include <cuda_fp16.h>
#include <mma.h>

using namespace nvcuda::wmma;

using Left = fragment<matrix_a, 16, 16, 16, half, row_major>;
using Right = fragment<matrix_b, 16, 16, 16, half, col_major>;
using Sum = fragment<accumulator, 16, 16, 16, float>;

// The upper half of each warp does not come.
__global__ void multiplyInHalf(float *out, const half *a, const half *b) {
  Sum sum;
  Left left;
  Right right;
  fill_fragment(sum, 0.0f);
  int tile = threadIdx.x / 32;
  load_matrix_sync(left, a + tile * 256, 16);
  load_matrix_sync(right, b + tile * 256, 16);
  if (threadIdx.x % 32 < 16)
    // Only here.
    mma_sync(sum, left, right, sum);
  __syncthreads();
  store_matrix_sync(out + tile * 256, sum, 16, mem_row_major);
}

__global__ void multiplyInWarp(float *out, const half *a, const half *b) {
  Sum sum;
  Left left;
  Right right;
  fill_fragment(sum, 0.0f);
  int tile = threadIdx.x / 32;
  load_matrix_sync(left, a + tile * 256, 16);
  load_matrix_sync(right, b + tile * 256, 16);
  if (threadIdx.x / 32 < 2) mma_sync(sum, left, right, sum);
  store_matrix_sync(out + tile * 256, sum, 16, mem_row_major);
}

__device__ unsigned loadEight(const half *row) {
  unsigned result, address = __cvta_generic_to_shared(row);
  asm volatile("ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%0}, [%1];" : "=r"(result) : "r"(address));
  return result;
}

__global__ void loadAfterReturn(unsigned *out, int n) {
  __shared__ half rows[64];
  if (threadIdx.x < 32) rows[threadIdx.x] = rows[threadIdx.x + 32] = 1;
  __syncwarp();
  if (threadIdx.x >= n) return;
  out[threadIdx.x] = loadEight(rows + threadIdx.x % 8 * 8);
}

__global__ void loadOfAll(unsigned *out, int n) {
  __shared__ half rows[64];
  if (threadIdx.x < 32) rows[threadIdx.x] = rows[threadIdx.x + 32] = 1;
  __syncwarp();
  unsigned value = loadEight(rows + threadIdx.x % 8 * 8);
  if (threadIdx.x < n) out[threadIdx.x] = value;
}

int main() {
  float *f;
  half *a;
  unsigned *u;
  cudaMalloc(&f, 64 * 256 * sizeof(float));
  cudaMalloc(&a, 64 * 256 * sizeof(half));
  cudaMalloc(&u, 64 * sizeof(unsigned));
  multiplyInHalf<<<1, 128>>>(f, a, a);
  multiplyInWarp<<<1, 128>>>(f, a, a);
  loadAfterReturn<<<1, 32>>>(u, 20);
  loadOfAll<<<1, 32>>>(u, 20);
  return cudaDeviceSynchronize();
}
