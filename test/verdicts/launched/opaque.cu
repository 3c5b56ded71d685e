// expect: blurTexture race=proved divergence=proved
// expect: blurTexture assumes texture-apart
// expect: blurTexture silent
// expect: approximate race=proved divergence=proved
// expect: approximate silent
// expect: approximateIndex race=race divergence=proved
// expect: approximateIndex finding race/global error on out lines 37
// expect: storeByTexture race=possible divergence=proved
// expect: storeByTexture silent
// expect: multiplyTiles race=proved divergence=proved
// expect: multiplyTiles silent
// expect: storeSurface race=possible divergence=proved
// expect: storeSurface silent
// expect: reportNumber race=proved divergence=proved
// expect: reportNumber assumes no-effect
// expect: reportNumber silent
// expect: reportAddress race=unknown divergence=unknown
// expect: reportAddress silent
//
// Unknown values, which proofs allow, and unknown effects.

#include <mma.h>

__global__ void blurTexture(float* out, cudaTextureObject_t image) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  out[i] = (tex1Dfetch<float>(image, i) + tex1Dfetch<float>(image, i + 1)) / 2;
}

__global__ void approximate(float* out, const float* in) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  out[i] = __expf(__sinf(in[i]));
}

// 4096 threads, and 2001 numbers from -1000 to 1000.
__global__ void approximateIndex(float* out, const float* in) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  out[(int)(1000 * __sinf(i))] = in[i];
}

// Whether two threads store to one element is not known.
__global__ void storeByTexture(float* out, cudaTextureObject_t index) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  out[tex1Dfetch<int>(index, i)] = i;
}

__global__ void multiplyTiles(float* out, const half* a, const half* b) {
  using namespace nvcuda::wmma;
  int tile = (blockIdx.x * blockDim.x + threadIdx.x) / 32;
  fragment<matrix_a, 16, 16, 16, half, row_major> left;
  fragment<matrix_b, 16, 16, 16, half, col_major> right;
  fragment<accumulator, 16, 16, 16, float> sum;
  fill_fragment(sum, 0.0f);
  load_matrix_sync(left, a + tile * 256, 16);
  load_matrix_sync(right, b + tile * 256, 16);
  mma_sync(sum, left, right, sum);
  store_matrix_sync(out + tile * 256, sum, 16, mem_row_major);
}

// Each thread stores to a separate element, but the layout of a surface is not known.
__global__ void storeSurface(cudaSurfaceObject_t image, const float* in, int w) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y;
  surf2Dwrite(in[y * w + x], image, x * sizeof(float), y);
}

extern __device__ void report(int number);
extern __device__ void reportAt(const int* place);

// No argument of the function points to the memory of the kernel.
__global__ void reportNumber(int* out) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  out[i] = i;
  report(i);
}

__global__ void reportAddress(int* out) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  out[i] = i;
  reportAt(&out[i]);
}

void launchOpaque(float* out, int* numbers, const float* in, const half* a, const half* b, cudaTextureObject_t texture,
                  cudaSurfaceObject_t surface) {
  blurTexture<<<16, 256>>>(out, texture);
  approximate<<<16, 256>>>(out, in);
  approximateIndex<<<16, 256>>>(out, in);
  storeByTexture<<<16, 256>>>(out, texture);
  multiplyTiles<<<16, 128>>>(out, a, b);
  storeSurface<<<dim3(4, 64), 256>>>(surface, in, 1024);
  reportNumber<<<16, 256>>>(numbers);
  reportAddress<<<16, 256>>>(numbers);
}
