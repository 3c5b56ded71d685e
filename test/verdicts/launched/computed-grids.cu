// expect: detailsByLevel race=race divergence=proved
// expect: detailsByLevel finding race/global error on out lines 14,18
// expect: requantize race=race divergence=proved
// expect: requantize finding race/global error on plane lines 28,31
//
// Grids computed from an offset or a pitch, which runs must choose so that there are several blocks.

#define FINEST 256

// The distance of the finest details from the start of the output is the number of threads. One thread too many of the
// last block writes the first one of them.
__global__ void detailsByLevel(float* out, const float* in, unsigned levels, unsigned half, int threads) {
  int thread = threadIdx.x;
  out[blockIdx.x * threads + thread + half] = in[2 * (blockIdx.x * threads + thread)];
  unsigned active = threads >> 1;
  for (unsigned level = 1; level < levels; ++level) {
    if (thread <= active) {
      out[active * gridDim.x + blockIdx.x * active + thread] = in[thread];
      active >>= 1;
    }
    __syncthreads();
  }
}

// The rows that are written have half the pitch of those that are read, so they belong to other blocks.
__global__ void requantize(short* plane, int pitch) {
  int x = blockIdx.x * 8 + threadIdx.x, y = blockIdx.y * 8 + threadIdx.y;
  short value = plane[y * pitch + x];
  value = value < 0 ? -((-value + 4) / 8) : (value + 4) / 8;
  __syncthreads();
  plane[y * (pitch / 2) + x] = value * 8;
}

void transform(float* out, const float* in, int samples, int levels, short* plane, int width, int height) {
  detailsByLevel<<<samples / FINEST, FINEST>>>(out, in, levels, samples, FINEST);
  requantize<<<dim3(width / 8, height / 8), dim3(8, 8)>>>(plane, width);
}
