// expect: shiftApart race=proved divergence=proved
// expect: shiftApart silent
// expect: shiftApart launch main.cu:37 block=256 grid=16
// expect: shiftSame race=race divergence=proved
// expect: shiftSame finding race/global error on in lines 23
// expect: shiftSame launch main.cu:38 block=256 grid=16
// expect: copyUp race=proved divergence=proved
// expect: copyUp silent
// expect: copyUp launch main.cu:40 block=256 grid=16
// expect: copyNear race=race divergence=proved
// expect: copyNear finding race/global error on in lines 33
// expect: copyNear launch main.cu:41 block=256 grid=16
//
// Parts of one buffer are disjoint if their offsets differ enough.

__global__ void shiftApart(int* out, const int* in) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  out[i] = in[i + 1];
}

__global__ void shiftSame(int* out, const int* in) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  out[i] = in[i + 1];
}

__global__ void copyUp(int* out, const int* in) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  out[i] = in[i];
}

__global__ void copyNear(int* out, const int* in) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  out[i] = in[i];
}

void run(int* a, int* b) {
  shiftApart<<<16, 256>>>(a, b);
  shiftSame<<<16, 256>>>(a, a);
  int* far = a + 16 * 256;
  copyUp<<<16, 256>>>(far, a);
  copyNear<<<16, 256>>>(&a[64], a);
}
