// expect: addForty race=proved divergence=proved
// expect: addForty silent
// expect: addForty launch main.cu:33 block=256 grid=4 where n=1000
// expect: addLast race=race divergence=proved
// expect: addLast finding race/global error on in lines 27
// expect: addLast launch main.cu:34 block=256 grid=4 where n=1000
//
// The last of the arguments is the buffer that the first one is.

__global__ void addForty(
    float* out,
    int p1, int p2, int p3, int p4, int p5, int p6, int p7, int p8, int p9, int p10, int p11, int p12, int p13,
    int p14, int p15, int p16, int p17, int p18, int p19, int p20, int p21, int p22, int p23, int p24, int p25,
    int p26, int p27, int p28, int p29, int p30, int p31, int p32, int p33, int p34, int p35, int p36, int p37,
    int n, const float* in) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = in[i + 1] + p1 + p37;
}

__global__ void addLast(
    float* out,
    int p1, int p2, int p3, int p4, int p5, int p6, int p7, int p8, int p9, int p10, int p11, int p12, int p13,
    int p14, int p15, int p16, int p17, int p18, int p19, int p20, int p21, int p22, int p23, int p24, int p25,
    int p26, int p27, int p28, int p29, int p30, int p31, int p32, int p33, int p34, int p35, int p36, int p37,
    int n, const float* in) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = in[i + 1] + p1 + p37;
}

#define NUMBERS 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31, 32, 33, 34, 35, 36, 37

void run(float* a, const float* b, int n) {
  addForty<<<(n + 255) / 256, 256>>>(a, NUMBERS, n, b);
  addLast<<<(n + 255) / 256, 256>>>(a, NUMBERS, n, a);
}
