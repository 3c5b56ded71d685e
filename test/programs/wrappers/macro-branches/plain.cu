// expect: turn race=proved divergence=proved
// expect: turn silent
// expect: turn launch plain.cu:22 block=16,16 grid=4,4 where cols=64
//
// The launch is in the branch that the compiler takes.

#define EDGE 16
#define WITH_DEVICE 1

__global__ void turn(float* out, const float* in, int cols) {
  __shared__ float tile[EDGE][EDGE];
  int x = blockIdx.x * EDGE, y = blockIdx.y * EDGE;
  tile[threadIdx.y][threadIdx.x] = in[(y + threadIdx.y) * cols + x + threadIdx.x];
  __syncthreads();
  out[(y + threadIdx.y) * cols + x + threadIdx.x] = tile[threadIdx.x][threadIdx.y];
}

void turned(float* out, const float* in, int cols) {
#ifdef WITH_DEVICE
  dim3 tiles(cols / EDGE, cols / EDGE);
  dim3 tile(EDGE, EDGE);
  turn<<<tiles, tile>>>(out, in, cols);
#else
#error there is no device
#endif
}

