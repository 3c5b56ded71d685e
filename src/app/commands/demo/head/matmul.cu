constexpr int TILE = 16;

// c = a * b for square matrices whose size is a multiple of the tile.
// selvage: block=16,16 grid=16,16 arg(n=256)
__global__ void matmul(const float* a, const float* b, float* c, int n) {
  __shared__ float tileA[TILE][TILE];
  __shared__ float tileB[TILE][TILE];
  int column = blockIdx.x * TILE + threadIdx.x;
  int row = blockIdx.y * TILE + threadIdx.y;
  float sum = 0.0f;
  for (int start = 0; start < n; start += TILE) {
    tileA[threadIdx.y][threadIdx.x] = a[row * n + start + threadIdx.x];
    tileB[threadIdx.y][threadIdx.x] = b[(start + threadIdx.y) * n + column];
    __syncthreads();
    for (int k = 0; k < TILE; k++) sum = fmaf(tileA[threadIdx.y][k], tileB[k][threadIdx.x], sum);
    __syncthreads();
  }
  c[row * n + column] = sum;
}
