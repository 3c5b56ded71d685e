// expect: smooth race=proved divergence=proved
// expect: smooth silent
// expect: smoothInPlace race=race divergence=proved
// expect: smoothInPlace finding race/global error on a lines 23
// expect: smoothTile race=proved divergence=proved
// expect: smoothTile silent
// expect: smoothTileNoBarrier race=race divergence=proved
// expect: smoothTileNoBarrier finding race/shared error on s lines 40,42
// expect: smoothTileHalo race=possible divergence=proved
// expect: smoothTileHalo finding memory/out-of-bounds error on s lines 50
// expect: redBlack race=proved divergence=proved
// expect: redBlack silent
//
// Means of neighbours, in another array and in place.

__global__ void smooth(float* out, const float* in, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i > 0 && i < n - 1) out[i] = (in[i - 1] + in[i] + in[i + 1]) / 3;
}

__global__ void smoothInPlace(float* a, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i > 0 && i < n - 1) a[i] = (a[i - 1] + a[i] + a[i + 1]) / 3;
}

__global__ void smoothTile(float* out, const float* in, int n) {
  __shared__ float s[258];
  int t = threadIdx.x, i = blockIdx.x * 256 + t;
  if (t == 0) s[0] = i > 0 ? in[i - 1] : 0;
  s[t + 1] = i < n ? in[i] : 0;
  if (t == 255) s[257] = i + 1 < n ? in[i + 1] : 0;
  __syncthreads();
  if (i < n) out[i] = (s[t] + s[t + 1] + s[t + 2]) / 3;
}

__global__ void smoothTileNoBarrier(float* out, const float* in, int n) {
  __shared__ float s[258];
  int t = threadIdx.x, i = blockIdx.x * 256 + t;
  if (t == 0) s[0] = i > 0 ? in[i - 1] : 0;
  s[t + 1] = i < n ? in[i] : 0;
  if (t == 255) s[257] = i + 1 < n ? in[i + 1] : 0;
  if (i < n) out[i] = (s[t] + s[t + 1] + s[t + 2]) / 3;
}

// The tile has no place for its halo.
__global__ void smoothTileHalo(float* out, const float* in, int n) {
  __shared__ float s[256];
  int t = threadIdx.x, i = blockIdx.x * 256 + t;
  s[t] = i < n ? in[i] : 0;
  if (t < 2) s[t + 256] = i + 256 < n ? in[i + 256] : 0;
  __syncthreads();
  if (i + 2 < n) out[i] = (s[t] + s[(t + 1) % 256] + s[(t + 2) % 256]) / 3;
}

// In place, but only every second element is stored, and its neighbours are read.
__global__ void redBlack(float* a, int n) {
  int i = 2 * (blockIdx.x * blockDim.x + threadIdx.x) + 1;
  if (i < n - 1) a[i] = (a[i - 1] + a[i + 1]) / 2;
}

void launchStencils(float* out, float* a, const float* in) {
  smooth<<<40, 256>>>(out, in, 10000);
  smoothInPlace<<<40, 256>>>(a, 10000);
  smoothTile<<<40, 256>>>(out, in, 10000);
  smoothTileNoBarrier<<<40, 256>>>(out, in, 10000);
  smoothTileHalo<<<40, 256>>>(out, in, 10000);
  redBlack<<<20, 256>>>(a, 10000);
}
