// expect: shiftApart race=proved divergence=proved
// expect: shiftApart assumes no-alias
// expect: shiftApart silent
// expect: shiftSame race=race divergence=proved
// expect: shiftSame finding race/global error on in lines 36
// expect: scaleSame race=proved divergence=proved
// expect: scaleSame silent
// expect: fillRows race=race divergence=proved
// expect: fillRows finding race/global error on out lines 45
// expect: fillRowsLong race=proved divergence=proved
// expect: fillRowsLong silent
// expect: copyPitched race=proved divergence=proved
// expect: copyPitched precondition "ld >= w"
// expect: copyPitched silent
// expect: copyPitchedHalf race=proved divergence=proved
// expect: copyPitchedHalf precondition "ld >= w"
// expect: copyPitchedHalf finding launch/precondition error lines 87
// expect: markEmpty race=race divergence=proved
// expect: markEmpty finding race/global error on out lines 62
// expect: markEmptyPermitted race=proved divergence=proved
// expect: markEmptyPermitted assumes user
// expect: markEmptyPermitted precondition "n >= 1"
// expect: markEmptyPermitted silent
// expect: squareSpaced race=proved divergence=proved
// expect: squareSpaced launch launch-sites.cu:98 block=256 grid=16 args n=4096
//
// The launch decides: the same base for two pointers, strides, sizes that are given or only permitted.

__global__ void shiftApart(int* out, const int* in) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  out[i] = in[i + 1];
}

__global__ void shiftSame(int* out, const int* in) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  out[i] = in[i + 1];
}

__global__ void scaleSame(int* out, const int* in) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  out[i] = 2 * in[i];
}

// Of two launches one has rows that are shorter than its blocks.
__global__ void fillRows(int* out, int stride) { out[blockIdx.x * stride + threadIdx.x] = blockIdx.x; }

__global__ void fillRowsLong(int* out, int stride) { out[blockIdx.x * stride + threadIdx.x] = blockIdx.x; }

__global__ void copyPitched(float* out, const float* in, int w, int ld) {
  int x = blockIdx.x * blockDim.x + threadIdx.x;
  if (x < w) out[blockIdx.y * ld + x] = in[blockIdx.y * w + x];
}

__global__ void copyPitchedHalf(float* out, const float* in, int w, int ld) {
  int x = blockIdx.x * blockDim.x + threadIdx.x;
  if (x < w) out[blockIdx.y * ld + x] = in[blockIdx.y * w + x];
}

// Without elements the first place takes the number of a thread, whichever comes last.
__global__ void markEmpty(int* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (n == 0) out[0] = i;
  else if (i < n) out[i] = i;
}

// The assumption permits no elements; no launch has that size.
// selvage: assume(n >= 0)
__global__ void markEmptyPermitted(int* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (n == 0) out[0] = i;
  else if (i < n) out[i] = i;
}

void launchGiven(int* a, int* b) {
  shiftApart<<<16, 256>>>(a, b);
  shiftSame<<<16, 256>>>(a, a);
  scaleSame<<<16, 256>>>(a, a);
  fillRows<<<16, 256>>>(a, 256);
  fillRows<<<16, 256>>>(a, 128);
  fillRowsLong<<<16, 256>>>(a, 256);
  fillRowsLong<<<16, 256>>>(a, 300);
  markEmpty<<<16, 256>>>(a, 0);
}

void launchOpen(float* a, const float* b, int* marks, int w, int ld, int n) {
  copyPitched<<<dim3(4, 64), 256>>>(a, b, w, ld);
  copyPitchedHalf<<<dim3(4, 64), 256>>>(a, b, w, w / 2);
  markEmptyPermitted<<<16, 256>>>(marks, n);
}

__global__ void squareSpaced(float* a, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) a[i] *= a[i];
}

// As formatters for C++ leave it.
void launchSpaced(float* a) {
  squareSpaced << <16, 256 >> > (a, 4096);
}
