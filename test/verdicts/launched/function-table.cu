// expect: applyTable race=proved divergence=proved
// expect: applyTable assumes contents
// expect: applyTable silent
// expect: applyChosen race=proved divergence=proved
// expect: applyChosen assumes contents
// expect: applyChosen silent
// expect: moveByTable race=possible divergence=proved
// expect: moveByTable silent
// expect: waitByTable race=proved divergence=proved
// expect: waitByTable silent
// expect: waitByThread race=possible divergence=possible
// expect: waitByThread silent
//
// Functions that the program puts in tables: each that takes such arguments may be called.

typedef float (*Operation)(float);
typedef void (*Move)(float*, int);
typedef float (*Sum)(float*, int, double);

__device__ float doubled(float x) { return 2 * x; }
__device__ float squared(float x) { return x * x; }
__device__ void keep(float* values, int i) { values[i] = values[i] / 2; }
__device__ void shift(float* values, int i) { values[i] = values[i + 1]; }

__device__ float ofOne(float* values, int i, double) { return values[i]; }
__device__ float ofBlock(float* values, int i, double factor) {
  __shared__ float staged[256];
  staged[threadIdx.x] = values[i];
  __syncthreads();
  return staged[threadIdx.x ^ 1] * factor;
}

__device__ Operation someOperations[] = {doubled, squared};
__device__ Move someMoves[] = {keep, shift};
__device__ Sum someSums[] = {ofOne, ofBlock};

__device__ Operation operations[4];
__device__ Move moves[4];
__device__ Sum sums[4];

// The program copies elements of `someOperations` to `operations`.
__global__ void applyTable(float* out, const float* in, int which) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  out[i] = operations[which](in[i]);
}

__global__ void applyChosen(float* out, const float* in, const int* which) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  out[i] = operations[which[i]](in[i]);
}

// One of the possible callees reads an element that another thread writes.
__global__ void moveByTable(float* out, int which) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  moves[which](out, i);
}

__global__ void waitByTable(float* out, float* in, int which) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  out[i] = sums[which](in, i, 2.0);
}

// Threads of a block may call different functions, one of which contains a barrier.
__global__ void waitByThread(float* out, float* in) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  out[i] = sums[threadIdx.x % 4](in, i, 2.0);
}

void launchTables(float* out, float* in, const int* which) {
  applyTable<<<16, 256>>>(out, in, 1);
  applyChosen<<<16, 256>>>(out, in, which);
  moveByTable<<<16, 256>>>(out, 1);
  waitByTable<<<16, 256>>>(out, in, 1);
  waitByThread<<<16, 256>>>(out, in);
}
