// expect: tileSum<16> race=proved divergence=proved
// expect: tileSum<16> silent
// expect: tileSum<16> launch main.cu:25 block=16,16 grid=8
// expect: tileSum<24> race=possible divergence=proved
// expect: tileSum<24> finding memory/out-of-bounds error on tile lines 13
// expect: tileSum<24> launch main.cu:26 block=24,25 grid=8
//
// The constant of the template is that of the host; the second launch has a row more than its tile.

template <int Edge> __global__ void tileSum(float* out, const float* in) {
  __shared__ float tile[Edge][Edge];
  int x = threadIdx.x, y = threadIdx.y;
  tile[y][x] = in[(blockIdx.x * blockDim.y + y) * Edge + x];
  __syncthreads();
  if (y == 0) {
    float sum = 0.0f;
    for (int k = 0; k < Edge; k++) sum += tile[k][x];
    out[blockIdx.x * Edge + x] = sum;
  }
}

constexpr int small = 16, large = small + 8;

void run(float* out, const float* in) {
  tileSum<small><<<8, dim3(small, small)>>>(out, in);
  tileSum<large><<<8, dim3(large, large + 1)>>>(out, in);
}
