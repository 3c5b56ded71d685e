// expect: map<&(twice(float))>(float*,int) race=race divergence=proved
// expect: map<&(twice(float))>(float*,int) finding race/global error on x lines 17
// expect: map<&(twice(float))>(float*,int) launch main.cu:20 block=256 grid=4 args step=0
// expect: map<&(half(float))>(float*,int) race=proved divergence=proved
// expect: map<&(half(float))>(float*,int) launch main.cu:21 block=256 grid=4 args step=1
//
// Functions of internal linkage among the template arguments of kernels.
#include <cuda_runtime.h>

static __device__ float twice(float x) { return 2 * x; }

static __device__ float half(float x) { return x / 2; }

template <float (*f)(float)>
__global__ void map(float* x, int step) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  x[step * i] = f(i);
}

void twiceAtOne(float* x) { map<twice><<<4, 256>>>(x, 0); }
void halfOfAll(float* x) { map<half><<<4, 256>>>(x, 1); }
