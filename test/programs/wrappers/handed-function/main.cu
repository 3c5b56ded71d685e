// expect: reverseTile race=proved divergence=proved
// expect: reverseTile silent
// expect: reverseTile launch main.cu:80 block=64 grid=1024
// expect: reverseTile launch main.cu:80 block=256 grid=256
// expect: swapTile race=race divergence=proved
// expect: swapTile finding race/shared error on tile lines 61
// expect: swapTile launch main.cu:81 block=512 grid=128
// expect: keptTile race=race divergence=proved
// expect: keptTile finding race/shared warning on tile lines 68
// expect: changedTile race=race divergence=proved
// expect: changedTile finding race/shared warning on tile lines 75
//
// A function passed to one that only calls it is called with the arguments of that one, and with no others.

#include <utility>

template <typename Function, typename... Arguments>
void repeated(int times, Function run, Arguments&&... arguments) {
  for (int i = 0; i < times; i++) run(std::forward<Arguments>(arguments)...);
}

template <typename Function>
void twice(Function&& run, float* a, int block) {
  repeated(2, std::forward<Function>(run), a, block);
}

// It calls its argument with more threads, too.
template <typename Function>
void doubled(Function run, float* a, int block) {
  run(a, block);
  run(a, 2 * block);
}

typedef void (*Launch)(float*, int);

// Others may call the function stored here.
Launch kept;

void keep(Launch run, float* a) {
  run(a, 64);
  kept = run;
}

void runKept(float* a, int block) { kept(a, block); }

// Functions that it returns may be called likewise.
void change(Launch run, Launch& other, float* a) {
  run(a, 64);
  other = run;
}

__global__ void reverseTile(float* a) {
  __shared__ float tile[256];
  tile[threadIdx.x % 256] = a[blockIdx.x * blockDim.x + threadIdx.x];
  __syncthreads();
  a[blockIdx.x * blockDim.x + threadIdx.x] = tile[blockDim.x - 1 - threadIdx.x];
}

__global__ void swapTile(float* a) {
  __shared__ float tile[256];
  tile[threadIdx.x % 256] = a[blockIdx.x * blockDim.x + threadIdx.x];
  __syncthreads();
  a[blockIdx.x * blockDim.x + threadIdx.x] = tile[threadIdx.x % 256 ^ 1];
}

__global__ void keptTile(float* a) {
  __shared__ float tile[256];
  tile[threadIdx.x % 256] = a[blockIdx.x * blockDim.x + threadIdx.x];
  __syncthreads();
  a[blockIdx.x * blockDim.x + threadIdx.x] = tile[threadIdx.x % 256 ^ 1];
}

__global__ void changedTile(float* a) {
  __shared__ float tile[256];
  tile[threadIdx.x % 256] = a[blockIdx.x * blockDim.x + threadIdx.x];
  __syncthreads();
  a[blockIdx.x * blockDim.x + threadIdx.x] = tile[threadIdx.x % 256 ^ 1];
}

void reverse(float* a, int block) { reverseTile<<<65536 / block, block>>>(a); }
void swap(float* a, int block) { swapTile<<<65536 / block, block>>>(a); }
void keepRun(float* a, int block) { keptTile<<<65536 / block, block>>>(a); }
void changeRun(float* a, int block) { changedTile<<<65536 / block, block>>>(a); }

int main(int argc, char** argv) {
  float* a;
  cudaMalloc(&a, 65536 * sizeof(float));
  for (int block = 64; block <= 256; block *= 2) twice(reverse, a, block);
  for (int block = 64; block <= 256; block *= 2) doubled(swap, a, block);
  keep(keepRun, a);
  runKept(a, 64 * argc);
  Launch other;
  change(changeRun, other, a);
  other(a, 64 * argc);
}
