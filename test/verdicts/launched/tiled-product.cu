// expect: tiledProduct race=proved divergence=proved
// expect: tiledProduct silent
// expect: tiledProductNoBarrierAfter race=race divergence=proved
// expect: tiledProductNoBarrierAfter finding race/shared error on as lines 36,39
// expect: tiledProductNoBarrierAfter finding race/shared error on bs lines 37,39
// expect: tiledProductReturns race=proved divergence=proved
// expect: tiledProductReturns finding barrier/early-exit warning lines 53
// expect: tiledProductReturns finding barrier/early-exit warning lines 55
// expect: tiledProductFull race=proved divergence=proved
// expect: tiledProductFull silent
// expect: tiledProductSplit race=race divergence=proved
// expect: tiledProductSplit finding race/global error on c lines 81
//
// Matrix products by tiles of 16 by 16.

__global__ void tiledProduct(float* c, const float* a, const float* b, int n) {
  __shared__ float as[16][16], bs[16][16];
  int tx = threadIdx.x, ty = threadIdx.y, row = blockIdx.y * 16 + ty, col = blockIdx.x * 16 + tx;
  float sum = 0;
  for (int k = 0; k < n; k += 16) {
    as[ty][tx] = row < n && k + tx < n ? a[row * n + k + tx] : 0;
    bs[ty][tx] = col < n && k + ty < n ? b[(k + ty) * n + col] : 0;
    __syncthreads();
    for (int i = 0; i < 16; i++) sum += as[ty][i] * bs[i][tx];
    __syncthreads();
  }
  if (row < n && col < n) c[row * n + col] = sum;
}

// A fast warp loads the next tiles while a slow one still multiplies.
__global__ void tiledProductNoBarrierAfter(float* c, const float* a, const float* b, int n) {
  __shared__ float as[16][16], bs[16][16];
  int tx = threadIdx.x, ty = threadIdx.y, row = blockIdx.y * 16 + ty, col = blockIdx.x * 16 + tx;
  float sum = 0;
  for (int k = 0; k < n; k += 16) {
    as[ty][tx] = row < n && k + tx < n ? a[row * n + k + tx] : 0;
    bs[ty][tx] = col < n && k + ty < n ? b[(k + ty) * n + col] : 0;
    __syncthreads();
    for (int i = 0; i < 16; i++) sum += as[ty][i] * bs[i][tx];
  }
  if (row < n && col < n) c[row * n + col] = sum;
}

// 250 is not a multiple of 16: threads of the last tiles return before the barriers.
__global__ void tiledProductReturns(float* c, const float* a, const float* b, int n) {
  __shared__ float as[16][16], bs[16][16];
  int tx = threadIdx.x, ty = threadIdx.y, row = blockIdx.y * 16 + ty, col = blockIdx.x * 16 + tx;
  float sum = 0;
  if (row >= n || col >= n) return;
  for (int k = 0; k < n; k += 16) {
    as[ty][tx] = k + tx < n ? a[row * n + k + tx] : 0;
    bs[ty][tx] = k + ty < n ? b[(k + ty) * n + col] : 0;
    __syncthreads();
    for (int i = 0; i < 16; i++) sum += as[ty][i] * bs[i][tx];
    __syncthreads();
  }
  c[row * n + col] = sum;
}

// The same with 256 rows and columns: no thread returns.
__global__ void tiledProductFull(float* c, const float* a, const float* b, int n) {
  __shared__ float as[16][16], bs[16][16];
  int tx = threadIdx.x, ty = threadIdx.y, row = blockIdx.y * 16 + ty, col = blockIdx.x * 16 + tx;
  float sum = 0;
  if (row >= n || col >= n) return;
  for (int k = 0; k < n; k += 16) {
    as[ty][tx] = k + tx < n ? a[row * n + k + tx] : 0;
    bs[ty][tx] = k + ty < n ? b[(k + ty) * n + col] : 0;
    __syncthreads();
    for (int i = 0; i < 16; i++) sum += as[ty][i] * bs[i][tx];
    __syncthreads();
  }
  c[row * n + col] = sum;
}

// Four blocks share the sum of an element, and add to it without an atomic.
__global__ void tiledProductSplit(float* c, const float* a, const float* b, int n) {
  int row = blockIdx.y * 16 + threadIdx.y, col = blockIdx.x * 16 + threadIdx.x;
  float sum = 0;
  for (int k = blockIdx.z * 64; k < blockIdx.z * 64 + 64; k++) sum += a[row * n + k] * b[k * n + col];
  c[row * n + col] += sum;
}

void launchProducts(float* c, const float* a, const float* b) {
  tiledProduct<<<dim3(16, 16), dim3(16, 16)>>>(c, a, b, 250);
  tiledProductNoBarrierAfter<<<dim3(16, 16), dim3(16, 16)>>>(c, a, b, 250);
  tiledProductReturns<<<dim3(16, 16), dim3(16, 16)>>>(c, a, b, 250);
  tiledProductFull<<<dim3(16, 16), dim3(16, 16)>>>(c, a, b, 256);
  tiledProductSplit<<<dim3(16, 16, 4), dim3(16, 16)>>>(c, a, b, 256);
}
