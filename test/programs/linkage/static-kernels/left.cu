// expect: step race=proved divergence=proved
// expect: step silent
// expect: step launch left.cu:7 block=128 grid=16

static __global__ void step(float* a) { a[blockIdx.x * 128 + threadIdx.x] *= 2.0f; }

void left(float* a) { step<<<16, 128>>>(a); }

