// expect: step race=race divergence=proved
// expect: step finding race/global error on a lines 5
// expect: step launch right.cu:7 block=256 grid=16

static __global__ void step(float* a) { a[blockIdx.x * 128 + threadIdx.x] += 1.0f; }

void right(float* a) { step<<<16, 256>>>(a); }
