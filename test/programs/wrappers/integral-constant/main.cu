// expect: reverseOf<64> race=proved divergence=proved
// expect: reverseOf<64> silent
// expect: reverseOf<64> launch main.cu:50 block=64 grid=1024
// expect: reverseOf<256> race=proved divergence=proved
// expect: reverseOf<256> silent
// expect: reverseOf<256> launch main.cu:50 block=256 grid=256
// expect: halfOf<128> race=race divergence=proved
// expect: halfOf<128> finding race/shared error on tile lines 42
// expect: halfOf<128> launch main.cu:56 block=256 grid=256
// expect: rowOf<32> race=proved divergence=proved
// expect: rowOf<32> silent
// expect: rowOf<32> launch main.cu:65 block=32 grid=2048
// expect: rowOf<128> race=proved divergence=proved
// expect: rowOf<128> silent
// expect: rowOf<128> launch main.cu:65 block=128 grid=512
//
// A number that the host chooses at run time becomes an argument of a template by `std::integral_constant`.

#include <cassert>
#include <type_traits>

template <class Launch>
void withSize(Launch&& launch, int size) {
  switch (size) {
    case 64: return launch(std::integral_constant<int, 64>{});
    case 256: return launch(std::integral_constant<int, 256>());
    default: assert(false && "no such size");
  }
}

template <int Size>
__global__ void reverseOf(float* a) {
  __shared__ float tile[Size];
  tile[threadIdx.x] = a[blockIdx.x * Size + threadIdx.x];
  __syncthreads();
  a[blockIdx.x * Size + threadIdx.x] = tile[Size - 1 - threadIdx.x];
}

template <int Size>
__global__ void halfOf(float* a) {
  __shared__ float tile[Size];
  tile[threadIdx.x % Size] = a[blockIdx.x * blockDim.x + threadIdx.x];
  __syncthreads();
  a[blockIdx.x * blockDim.x + threadIdx.x] = tile[threadIdx.x % Size];
}

void reverse(float* a, int size) {
  auto launch = [&](auto chosen) {
    constexpr int threads = chosen.value;
    reverseOf<threads><<<65536 / threads, threads>>>(a);
  };
  withSize(launch, size);
}

void half(float* a) {
  auto launch = [a](auto size) { halfOf<decltype(size)::value><<<65536 / (2 * size()), 2 * size>>>(a); };
  launch(std::integral_constant<int, 128>{});
}

// Only the first elements of a row that the host chooses.
template <int Size>
__global__ void rowOf(float* a) { a[blockIdx.x * Size + threadIdx.x] *= 2.0f; }

template <typename Size>
void row(float* a, Size size) { rowOf<Size::value><<<65536 / Size::value, size.value>>>(a); }

int main(int argc, char** argv) {
  float* a;
  cudaMalloc(&a, 65536 * sizeof(float));
  for (int size : {64, 256}) reverse(a, size);
  half(a);
  if (argc > 1) row(a, std::integral_constant<int, 32>{});
  else row(a, std::integral_constant<int, 128>{});
}
