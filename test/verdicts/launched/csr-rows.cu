// expect: csrProduct race=proved divergence=proved
// expect: csrProduct silent
// expect: csrProductInPlace race=race divergence=proved
// expect: csrProductInPlace finding race/global warning on x lines 30,31
// expect: csrExpand race=proved divergence=proved
// expect: csrExpand assumes contents
// expect: csrExpand silent
// expect: csrExpandOneMore race=race divergence=proved
// expect: csrExpandOneMore finding race/global error on out lines 45
// expect: scaleBatch race=proved divergence=proved
// expect: scaleBatch assumes contents
// expect: scaleBatch silent
//
// Rows whose bounds are in memory, and a batch of arrays whose addresses are.

__global__ void csrProduct(float* y, const float* x, const float* value, const int* row, const int* column, int rows) {
  int r = blockIdx.x * blockDim.x + threadIdx.x;
  if (r >= rows) return;
  float sum = 0;
  for (int e = row[r]; e < row[r + 1]; e++) sum += value[e] * x[column[e]];
  y[r] = sum;
}

// Launched with one vector for both: other threads still read elements that a thread replaces.
__global__ void csrProductInPlace(float* y, const float* x, const float* value, const int* row, const int* column,
                                  int rows) {
  int r = blockIdx.x * blockDim.x + threadIdx.x;
  if (r >= rows) return;
  float sum = 0;
  for (int e = row[r]; e < row[r + 1]; e++) sum += value[e] * x[column[e]];
  y[r] = sum;
}

// The number of the row of each element.
__global__ void csrExpand(int* out, const int* row, int rows) {
  int r = blockIdx.x * blockDim.x + threadIdx.x;
  if (r < rows)
    for (int e = row[r]; e < row[r + 1]; e++) out[e] = r;
}

// `<=` goes on to the first element of the next row, which that row stores too, wherever rows begin.
__global__ void csrExpandOneMore(int* out, const int* row, int rows) {
  int r = blockIdx.x * blockDim.x + threadIdx.x;
  if (r < rows)
    for (int e = row[r]; e <= row[r + 1]; e++) out[e] = r;
}

__global__ void scaleBatch(float* const* batch, float factor, int n) {
  float* x = batch[blockIdx.y];
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) x[i] *= factor;
}

void launchRows(float* y, int* out, float* const* batch, const float* x, const float* value, const int* row,
                const int* column) {
  csrProduct<<<4, 256>>>(y, x, value, row, column, 1000);
  csrProductInPlace<<<4, 256>>>(y, y, value, row, column, 1000);
  csrExpand<<<4, 256>>>(out, row, 1000);
  csrExpandOneMore<<<4, 256>>>(out, row, 1000);
  scaleBatch<<<dim3(4, 16), 256>>>(batch, 0.5f, 1000);
}
