// expect: byRemainder race=proved divergence=proved
// expect: byRemainder silent
// expect: byRemainder launch main.cu:44 block=256 grid=4 where n=1000
// expect: byRemainder launch main.cu:44 excludes gridDim.x=5,n=1024
// expect: byCeil race=proved divergence=proved
// expect: byCeil silent
// expect: byCeil launch main.cu:45 block=256 grid=4 where n=1000
// expect: byCeil launch main.cu:45 excludes gridDim.x=5,n=1024
// expect: byTemplate race=proved divergence=proved
// expect: byTemplate silent
// expect: byTemplate launch main.cu:46 block=256 grid=4 where n=1000
// expect: bySize race=proved divergence=proved
// expect: bySize silent
// expect: bySize launch main.cu:48 block=256 grid=4 where n=1000
//
// Four expressions that round up a quotient.

#include <cmath>

__global__ void byRemainder(float* a, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) a[i] += 1.0f;
}

__global__ void byCeil(float* a, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) a[i] += 1.0f;
}

__global__ void byTemplate(float* a, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) a[i] += 1.0f;
}

__global__ void bySize(float* a, size_t n) {
  size_t i = blockIdx.x * size_t(blockDim.x) + threadIdx.x;
  if (i < n) a[i] += 1.0f;
}

template <typename T> constexpr T roundedUp(T value, T unit) { return (value + unit - 1) / unit; }

void run(float* a, int n, size_t count) {
  int blocks = n % 256 ? n / 256 + 1 : n / 256;
  byRemainder<<<blocks, 256>>>(a, n);
  byCeil<<<(int)ceil(n / 256.0f), 256>>>(a, n);
  byTemplate<<<roundedUp(n, 256), 256>>>(a, n);
  const unsigned grid = static_cast<unsigned>((count + 255) / 256);
  bySize<<<grid, 256>>>(a, count);
}

