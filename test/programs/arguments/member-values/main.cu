// expect: addPart race=proved divergence=proved
// expect: addPart silent
// expect: addPart launch main.cu:24 block=256 grid=4 where n=1000
// expect: addPartClamped race=race divergence=proved
// expect: addPartClamped finding race/global error on a lines 19
// expect: addPartClamped launch main.cu:25 block=256 grid=4 where n=1000
//
// The number of elements of a container is one value, wherever its method is called.

#include <vector>

__global__ void addPart(float* a, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) a[i] += 1.0f;
}

__global__ void addPartClamped(float* a, int n) {
  int i = min(blockIdx.x * blockDim.x + threadIdx.x, n - 1);
  a[i] += 1.0f;
}

void run(float* a, const std::vector<float>& values) {
  const int n = values.size();
  addPart<<<(values.size() + 255) / 256, 256>>>(a, n);
  addPartClamped<<<(n + 255) / 256, 256>>>(a, (int)values.size());
}

