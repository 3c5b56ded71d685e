// expect: turn race=possible divergence=proved
// expect: turn finding memory/out-of-bounds error on tile lines 16
// expect: turn launch edge.cu:24 block=16,32 grid=4,2 where cols=64
//
// The size of the tile is in a branch of #ifdef, and the block has twice its rows.

#ifdef SMALL_EDGE
#define EDGE SMALL_EDGE
#else
#define EDGE 16
#endif

__global__ void turn(float* out, const float* in, int cols) {
  __shared__ float tile[EDGE][EDGE];
  int x = blockIdx.x * EDGE, y = blockIdx.y * 32;
  tile[threadIdx.y][threadIdx.x] = in[(y + threadIdx.y) * cols + x + threadIdx.x];
  __syncthreads();
  out[(y + threadIdx.y) * cols + x + threadIdx.x] = tile[threadIdx.x][threadIdx.y % EDGE];
}

void turnedBack(float* out, const float* in, int cols) {
#if !defined(SMALL_EDGE) || SMALL_EDGE > 8
  dim3 tiles(cols / EDGE, cols / 32);
  turn<<<tiles, dim3(EDGE, 32)>>>(out, in, cols);
#else
  turn<<<1, 1>>>(out, in, cols);
#endif
}

