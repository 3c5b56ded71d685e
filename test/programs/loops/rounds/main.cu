// expect: eliminate race=proved divergence=proved
// expect: eliminate silent
// expect: eliminate launch main.cu:26 block=16,16 grid=4,4 where n=64
// expect: eliminate launch main.cu:26 permits n=64,k=62
// expect: eliminate launch main.cu:26 excludes n=64,k=64
// expect: eliminateAll race=race divergence=proved
// expect: eliminateAll finding race/global error on a lines 20
// expect: eliminateAll launch main.cu:27 block=16,16 grid=4,4 where n=64
//
// Rows below the k-th take a multiple of it. The second kernel changes the k-th as well, while others read
// it.

__global__ void eliminate(float* a, const float* factor, int n, int k) {
  int x = blockIdx.x * 16 + threadIdx.x, y = blockIdx.y * 16 + threadIdx.y;
  if (x < n && y < n && y > k) a[y * n + x] -= factor[y] * a[k * n + x];
}

__global__ void eliminateAll(float* a, const float* factor, int n, int k) {
  int x = blockIdx.x * 16 + threadIdx.x, y = blockIdx.y * 16 + threadIdx.y;
  if (x < n && y < n && y >= k) a[y * n + x] -= factor[y] * a[k * n + x];
}

void run(float* a, const float* factor, int n) {
  dim3 block(16, 16), grid((n + 15) / 16, (n + 15) / 16);
  for (int k = 0; k < n - 1; k++) {
    eliminate<<<grid, block>>>(a, factor, n, k);
    eliminateAll<<<grid, block>>>(a, factor, n, k);
  }
}

