// expect: fill(float*) race=proved divergence=proved
// expect: fill(float*) silent
// expect: fill(float*) launch main.cu:20 block=256 grid=16
// expect: fill(float*,int) race=race divergence=proved
// expect: fill(float*,int) finding race/global error on a lines 15
// expect: fill(float*,int) launch main.cu:21 block=512 grid=16 args n=7
// expect: fill(double*) race=proved divergence=proved
// expect: fill(double*) silent
// expect: fill(double*) launch main.cu:22 block=128 grid=16
//
// Arity and types of the arguments determine which kernel is launched.

__global__ void fill(float* a) { a[blockIdx.x * 256 + threadIdx.x] = threadIdx.x; }

__global__ void fill(float* a, int n) { a[blockIdx.x * 256 + threadIdx.x] = n * blockIdx.x; }

__global__ void fill(double* a) { a[blockIdx.x * 128 + threadIdx.x] = threadIdx.x; }

void run(float* a, double* b) {
  fill<<<16, 256>>>(a);
  fill<<<16, 512>>>(a, 7);
  fill<<<16, 128>>>(b);
}
