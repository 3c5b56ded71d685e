// Each form of a launch once; `record.test.ts` contains the expected record. Run with the argument 5.
#include <cstdlib>

struct Inner {
  int x;
  char tag;
};

struct Outer {
  long long id;
  Inner inner;
  int last;
};

__global__ void fill(float* a, int n) { a[0] = n; }

template <typename T, int N>
__global__ void assign(T* a, T value) {
  a[N] = value;
}

extern "C" __global__ void plain(bool flag, char c, short s, long long wide, float f) {}
__global__ void take(Outer outer) {}
__global__ void empty() {}

namespace {
__global__ void hidden(int n) {}
}  // namespace

int main(int argc, char** argv) {
  float* floats;
  cudaMalloc(&floats, 100 * sizeof(float));
  const int n = atoi(argv[1]);
  fill<<<n, 32>>>(floats, n);

  double* doubles;
  cudaMallocManaged(&doubles, 64);
  size_t pitch;
  char* rows;
  cudaMallocPitch((void**)&rows, &pitch, 100, 2);
  cudaStream_t stream;
  cudaStreamCreate(&stream);
  fill<<<dim3(2, 3, 4), dim3(8, 4, 2), 128, stream>>>(floats + 4, -1);
  assign<double, 16><<<1, 32>>>(doubles, 1.5);
  plain<<<1, 32>>>(true, 'a', -2, -1, 1.5f);
  Outer outer = {};
  outer.id = 7;
  outer.inner.x = 8;
  outer.inner.tag = 'c';
  outer.last = 9;
  take<<<1, 32>>>(outer);

  int count = 3;
  void* args[] = {&floats, &count};
  cudaLaunchKernel((const void*)fill, 3, 32, args, 64, 0);
  cudaLaunchCooperativeKernel((void*)empty, dim3(1), dim3(32), nullptr, 0, 0);

  cudaLaunchAttribute attributes[3];
  attributes[0].id = cudaLaunchAttributeClusterDimension;
  attributes[0].val.clusterDim.x = 2;
  attributes[0].val.clusterDim.y = 1;
  attributes[0].val.clusterDim.z = 1;
  cudaLaunchConfig_t config = {};
  config.gridDim = 4;
  config.blockDim = 32;
  config.attrs = attributes;
  config.numAttrs = 1;
  cudaLaunchKernelEx(&config, fill, floats, 4);

  attributes[0].id = cudaLaunchAttributeProgrammaticStreamSerialization;
  attributes[0].val.programmaticStreamSerializationAllowed = 1;
  config.gridDim = 1;
  cudaLaunchKernelEx(&config, fill, (float*)nullptr, 5);

  attributes[1].id = cudaLaunchAttributeClusterDimension;
  attributes[1].val.clusterDim.x = 4;
  attributes[1].val.clusterDim.y = 2;
  attributes[1].val.clusterDim.z = 1;
  attributes[2].id = cudaLaunchAttributeCooperative;
  attributes[2].val.cooperative = 1;
  config.gridDim = 8;
  config.numAttrs = 3;
  cudaLaunchKernelExC(&config, (const void*)empty, nullptr);

  void (*kernel)(float*, int) = fill;
  kernel<<<1, 32>>>(floats, 6);
  hidden<<<1, 32>>>(42);
  return cudaDeviceSynchronize() == cudaSuccess ? 7 : 1;
}
