// expect: padTensor race=proved divergence=proved
// expect: padTensor launch sizes-implied-by-guards.cu:39
// expect: padRing race=proved divergence=proved
// expect: padRing launch sizes-implied-by-guards.cu:40
// expect: padBeside race=proved divergence=proved
// expect: padBeside precondition "step >= 1"
// expect: padBeside launch sizes-implied-by-guards.cu:41
//
// A guard `i < n` of an index that is not negative excludes all threads if `n` is not positive, so that the sizes of a
// padded tensor need no precondition. A guard of one store states nothing about another one.

#define COORDINATES                                                              \
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y;           \
  const int channel = blockIdx.z % channels, image = blockIdx.z / channels;      \
  if (x >= width || y >= height || channel >= channels || image >= images) return; \
  const long long at = image * (width * height * channels) + channel * (width * height) + y * width + x;

__global__ void padTensor(float *to, const float *from, int left, int right, int width, int height, int channels,
                          int images) {
  COORDINATES
  if (x >= left && x < width - right) to[at] = from[x - left];
  else to[at] = 0;
}

__global__ void padRing(float *to, const float *from, int left, int right, int width, int height, int channels,
                        int images) {
  COORDINATES
  const int inner = width - left - right;
  to[at] = from[(x - left + inner) % inner];
}

__global__ void padBeside(float *to, float *beside, int width, int step) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x;
  if (x < width * step) to[x] = 1;
  beside[blockIdx.x * step * 64 + threadIdx.x % 64] = x;
}
void pad(float *to, float *from, int left, int right, int width, int height, int channels, int images, int step) {
  const dim3 grid((width + 255) / 256, height, channels * images);
  padTensor<<<grid, 256>>>(to, from, 0, 0, width, height, channels, images);
  padRing<<<grid, 256>>>(to, from, left, right, width, height, channels, images);
  padBeside<<<(width + 63) / 64, 64>>>(to, from, width, step);
}
