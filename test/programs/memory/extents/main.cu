// expect: fillAll race=proved divergence=proved
// expect: fillAll silent
// expect: fillAll launch main.cu:25 block=256 grid=4 where n=1000
// expect: fillAll launch main.cu:25 extent a=1000 where n=1000
// expect: fillPast race=possible divergence=proved
// expect: fillPast finding memory/out-of-bounds error on b lines 19
// expect: fillPast launch main.cu:27 block=256 grid=4
// expect: fillPast launch main.cu:27 extent b=1000
//
// The host determines the number of elements of the arrays. The second kernel writes one more.

__global__ void fillAll(float* a, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) a[i] = 1.0f;
}

__global__ void fillPast(float* b, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i <= n) b[i] = 1.0f;
}

void run(int n) {
  float *a, *b;
  cudaMalloc(&a, n * sizeof(float));
  fillAll<<<(n + 255) / 256, 256>>>(a, n);
  cudaMalloc((void**)&b, 1000 * sizeof(*b));
  fillPast<<<4, 256>>>(b, 1000);
}

