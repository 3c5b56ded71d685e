// expect: copyRows race=race divergence=proved
// expect: copyRows finding race/global error on out lines 10
// expect: copyRows launch main.cu:14 block=256 grid=4,64 args w=1000,ld=1024
// expect: copyRows launch main.cu:15 block=256 grid=4,64 args w=1000,ld=992
//
// With the numbers of the second launch the last elements of a row overlap the first ones of the next.

__global__ void copyRows(float* out, const float* in, int w, int ld) {
  int x = blockIdx.x * blockDim.x + threadIdx.x;
  if (x < w) out[blockIdx.y * ld + x] = in[blockIdx.y * w + x];
}

void run(float* out, const float* in) {
  copyRows<<<dim3(4, 64), 256>>>(out, in, 1000, 1024);
  copyRows<<<dim3(4, 64), 256>>>(out, in, 1000, 992);
}
