// expect: addOne race=proved divergence=proved
// expect: addOne silent
// expect: addOne launch main.cu:23 block=64,4 grid=4,4 args width=256
// expect: addOne launch main.cu:28 block=4,64 grid=512,8 args width=2048
// expect: addRow race=race divergence=proved
// expect: addRow finding race/global error on a lines 19
// expect: addRow launch main.cu:24 block=64,4 grid=4,4 args width=256
// expect: addRow launch main.cu:29 block=64,4 grid=4,4 args width=128
//
// Every launch counts, and one of those of the second kernel has rows that are too short.

__global__ void addOne(float* a, int width) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  a[y * width + x] += 1.0f;
}

__global__ void addRow(float* a, int width) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  a[y * width + x] += 1.0f;
}

void narrow(float* a) {
  addOne<<<dim3(4, 4), dim3(64, 4)>>>(a, 256);
  addRow<<<dim3(4, 4), dim3(64, 4)>>>(a, 256);
}

void wide(float* a) {
  addOne<<<dim3(512, 8), dim3(4, 64)>>>(a, 2048);
  addRow<<<dim3(4, 4), dim3(64, 4)>>>(a, 128);
}
