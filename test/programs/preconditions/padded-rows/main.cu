// expect: copyRows race=proved divergence=proved
// expect: copyRows silent
// expect: copyRows launch main.cu:15 block=256 grid=4,64
// expect: copyRows launch main.cu:15 excludes w=100,ld=99
// expect: copyRows launch main.cu:17 permits w=1000,ld=1024
//
// Each launch guarantees that rows have room for their width, so no assumption is needed.

__global__ void copyRows(float* out, const float* in, int w, int ld) {
  int x = blockIdx.x * blockDim.x + threadIdx.x;
  if (x < w) out[blockIdx.y * ld + x] = in[blockIdx.y * w + x];
}

void run(float* out, const float* in, int w, int ld) {
  if (ld >= w) copyRows<<<dim3(4, 64), 256>>>(out, in, w, ld);
  int padded = (w + 31) / 32 * 32;
  copyRows<<<dim3(4, 64), 256>>>(out, in, w, padded);
}

