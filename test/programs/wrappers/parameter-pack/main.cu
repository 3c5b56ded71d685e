// expect: scaleChunk race=proved divergence=proved
// expect: scaleChunk silent
// expect: scaleChunk launch main.cu:26 block=256 grid=4 where n=1000
// expect: clampChunk race=race divergence=proved
// expect: clampChunk finding race/global error on a lines 20
// expect: clampChunk launch main.cu:26 block=256 grid=4 where n=1000
//
// The pack relates the grid to the argument of the kernel.

#include <utility>

__global__ void scaleChunk(float* a, int n) {
  int i = blockIdx.x * 256 + threadIdx.x;
  if (i < n) a[i] *= 2.0f;
}

// The threads past the end take the last element.
__global__ void clampChunk(float* a, int n) {
  int i = min(blockIdx.x * 256 + threadIdx.x, n - 1);
  a[i] *= 2.0f;
}

template <typename... Parameters, typename... Arguments>
void launch(void (*kernel)(Parameters...), int count, Arguments&&... arguments) {
  const int threads = 256;
  kernel<<<(count + threads - 1) / threads, threads>>>(std::forward<Arguments>(arguments)...);
}

void run(float* a, int n) {
  launch(scaleChunk, n, a, n);
  launch(clampChunk, n, a, n);
}
