// expect: clampedCeil race=race divergence=proved
// expect: clampedCeil finding race/global error on a lines 14
// expect: clampedCeil launch main.cu:23 block=256 grid=4 where n=1000
// expect: clampedRemainder race=race divergence=proved
// expect: clampedRemainder finding race/global error on a lines 19
// expect: clampedRemainder launch main.cu:24 block=256 grid=4 where n=1000
//
// The threads of the remainder all take the last element.

#include <cmath>

__global__ void clampedCeil(float* a, int n) {
  int i = min(blockIdx.x * blockDim.x + threadIdx.x, n - 1);
  a[i] += 1.0f;
}

__global__ void clampedRemainder(float* a, int n) {
  int i = min(blockIdx.x * blockDim.x + threadIdx.x, n - 1);
  a[i] += 1.0f;
}

void run(float* a, int n) {
  clampedCeil<<<ceil((double)n / 256), 256>>>(a, n);
  clampedRemainder<<<n / 256 + (n % 256 == 0 ? 0 : 1), 256>>>(a, n);
}
