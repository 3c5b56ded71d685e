// expect: fillPlanes race=proved divergence=proved
// expect: fillPlanes precondition "h % 2 == 0"
// expect: fillPlanes silent
// expect: fillPlanes launch main.cu:31 block=32,8 grid=4,2,3 where w=100,h=30
// expect: fillPlanesUp race=race divergence=proved
// expect: fillPlanesUp finding race/global warning on out lines 25,26
// expect: fillPlanesUp launch main.cu:33 block=32,8 grid=4,2,3 where w=100,h=30
//
// Each thread fills two rows. The first launch halves the height and drops the remainder: it assumes even heights. The
// second one rounds up: of an odd height the last row is the first one of the next plane.

__global__ void fillPlanes(float* out, int w, int h) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= w || 2 * y >= h) return;
  float* plane = out + blockIdx.z * h * w;
  plane[2 * y * w + x] = 1.0f;
  plane[(2 * y + 1) * w + x] = 2.0f;
}

__global__ void fillPlanesUp(float* out, int w, int h) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= w || 2 * y >= h) return;
  float* plane = out + blockIdx.z * h * w;
  // The second row may not be in the plane.
  plane[2 * y * w + x] = 1.0f;
  plane[(2 * y + 1) * w + x] = 2.0f;
}

void run(float* out, int w, int h) {
  dim3 block(32, 8);
  fillPlanes<<<dim3((w + 31) / 32, (h / 2 + 7) / 8, 3), block>>>(out, w, h);
  int rows = (h + 1) / 2;
  fillPlanesUp<<<dim3((w + 31) / 32, (rows + 7) / 8, 3), block>>>(out, w, h);
}
