// expect: addToEven race=proved divergence=proved
// expect: addToEven precondition "s >= 1"
// expect: addToFourth race=race divergence=proved
// expect: addToFourth finding race/global error on a lines 18
//
// Each thread uses an even multiple of a stride and the next odd one.

__global__ void addToEven(float* a, int s, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (2 * s * i + s < n)
    a[2 * s * i] += a[2 * s * i + s];
}

// Four strides on is an even multiple again.
__global__ void addToFourth(float* a, int s, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (2 * s * i + 4 * s < n)
    a[2 * s * i] += a[2 * s * i + 4 * s];
}
