// expect: paintPixels race=proved divergence=proved
// expect: paintPixels precondition "pitch >= 4 * w"
// expect: paintPixels silent
// expect: paintFiveChannels race=race divergence=proved
// expect: paintFiveChannels finding race/global error on out lines 34,38
// expect: addRowPairs race=proved divergence=proved
// expect: addRowPairs precondition "ld >= w"
// expect: addRowPairs silent
// expect: addRowTriples race=race divergence=proved
// expect: addRowTriples finding race/global error on out lines 52,54
// expect: cropRows race=proved divergence=proved
// expect: cropRows precondition "pitch >= gridDim.x * blockDim.x"
// expect: cropRows silent
// expect: cropHalfRows race=race divergence=proved
// expect: cropHalfRows finding race/global error on out lines 67
//
// Elements of several parts, threads with two rows, and bounds computed in floats determine the size of a row.

__global__ void paintPixels(unsigned char* out, int w, int h, int pitch) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= w || y >= h) return;
  unsigned char* pixel = out + y * pitch + 4 * x;
  pixel[0] = x;
  pixel[1] = y;
  pixel[2] = 0;
  pixel[3] = 255;
}

// The fifth part is the first one of the next element.
__global__ void paintFiveChannels(unsigned char* out, int w, int h, int pitch) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= w || y >= h) return;
  unsigned char* pixel = out + y * pitch + 4 * x;
  pixel[0] = x;
  pixel[1] = y;
  pixel[2] = 0;
  pixel[3] = 255;
  pixel[4] = 1;
}

__global__ void addRowPairs(float* out, int w, int h, int ld) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= w || y >= h) return;
  out[2 * y * ld + x] += 1.0f;
  out[(2 * y + 1) * ld + x] += 2.0f;
}

// The third row is the first one of the next thread.
__global__ void addRowTriples(float* out, int w, int h, int ld) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= w || y >= h) return;
  out[2 * y * ld + x] += 1.0f;
  out[(2 * y + 1) * ld + x] += 2.0f;
  out[(2 * y + 2) * ld + x] += 3.0f;
}

__global__ void cropRows(float* out, int pitch, int w, int h, float scale) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= (int)(w / scale) || y >= (int)(h / scale)) return;
  out[y * pitch + x] = scale;
}

__global__ void cropHalfRows(float* out, int pitch, int w, int h, float scale) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= (int)(w / scale) || y >= (int)(h / scale)) return;
  // Two threads write each element.
  out[y * pitch + x / 2] = x;
}
