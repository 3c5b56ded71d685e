// expect: copyRows race=proved divergence=proved
// expect: copyRows precondition "ld >= w"
// expect: copyRows finding launch/precondition error lines 17
// expect: copyRows launch main.cu:16 block=256 grid=4,64
// expect: copyRows launch main.cu:17 block=256 grid=4,64
//
// Rows need room for their width. In the first launch this is unspecified, in the second one
// it is violated.

__global__ void copyRows(float* out, const float* in, int w, int ld) {
  int x = blockIdx.x * blockDim.x + threadIdx.x;
  if (x < w) out[blockIdx.y * ld + x] = in[blockIdx.y * w + x];
}

void run(float* out, const float* in, int w, int ld) {
  copyRows<<<dim3(4, 64), 256>>>(out, in, w, ld);
  copyRows<<<dim3(4, 64), 256>>>(out, in, w, w - 1);
}
