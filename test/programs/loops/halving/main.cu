// expect: addHalf race=proved divergence=proved
// expect: addHalf silent
// expect: addHalf launch main.cu:24 block=256 grid=4 where s=1000
// expect: addHalf launch main.cu:24 excludes s=0,gridDim.x=1
// expect: pairAt race=proved divergence=proved
// expect: pairAt silent
// expect: pairAt launch main.cu:25 block=256
// expect: pairAt launch main.cu:25 permits s=4
// expect: pairAt launch main.cu:25 excludes s=0
//
// The condition of the host loop excludes a distance of 0.

__global__ void addHalf(float* a, int s) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < s) a[i] += a[i + s];
}

__global__ void pairAt(float* a, int s, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (2 * s * i + s < n) a[2 * s * i] += a[2 * s * i + s];
}

void run(float* a, int n) {
  for (int s = n / 2; s > 0; s /= 2) addHalf<<<(s + 255) / 256, 256>>>(a, s);
  for (int s = 1; s < n; s *= 2) pairAt<<<(n / (2 * s) + 255) / 256, 256>>>(a, s, n);
}
