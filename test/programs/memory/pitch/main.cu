// expect: addRows race=proved divergence=proved
// expect: addRows silent
// expect: addRows launch main.cu:30 block=256 grid=4,30 where w=1000,h=30
// expect: addRows launch main.cu:30 permits pitch=4096,w=1000
// expect: addRows launch main.cu:30 excludes pitch=2000,w=1000
// expect: addRowsBytes race=proved divergence=proved
// expect: addRowsBytes precondition "ld >= w"
// expect: addRowsBytes finding launch/precondition error lines 31
// expect: addRowsBytes launch main.cu:31 block=256 grid=4,30 where w=1000,h=30
//
// cudaMallocPitch guarantees that a row has room for its width. The second launch passes a pitch of half
// the width.

__global__ void addRows(char* a, size_t pitch, int w, int h) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y;
  float* row = (float*)(a + y * pitch);
  if (x < w && y < h) row[x] += 1.0f;
}

__global__ void addRowsBytes(float* a, int ld, int w, int h) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y;
  if (x < w && y < h) a[y * ld + x] += 1.0f;
}

void run(int w, int h) {
  char* a;
  size_t pitch;
  cudaMallocPitch((void**)&a, &pitch, w * sizeof(float), h);
  dim3 grid((w + 255) / 256, h);
  addRows<<<grid, 256>>>(a, pitch, w, h);
  addRowsBytes<<<grid, 256>>>((float*)a, w / 2, w, h);
}
