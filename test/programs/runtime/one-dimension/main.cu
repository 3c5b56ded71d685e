// expect: rowOnly race=proved divergence=proved
// expect: rowOnly silent
// expect: rowOnly launch main.cu:21 block=256,1,1 grid=16,1,1
// expect: rowTwice race=race divergence=proved
// expect: rowTwice finding race/global error on a lines 16
// expect: rowTwice launch main.cu:22 block=64,4 grid=16
//
// Of a number the second and third dimension are 1. The other launch has four rows of threads for one of
// elements.

__global__ void rowOnly(float* a) {
  a[blockIdx.x * blockDim.x + threadIdx.x] += threadIdx.y + 1.0f;
}

__global__ void rowTwice(float* a) {
  a[blockIdx.x * blockDim.x + threadIdx.x] += threadIdx.y + 1.0f;
}

void run(float* a) {
  int threads = 256;
  rowOnly<<<16, threads>>>(a);
  rowTwice<<<16, dim3(64, 4)>>>(a);
}
