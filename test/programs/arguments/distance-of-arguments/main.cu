// expect: totals race=proved divergence=proved
// expect: totals silent
// expect: inclusive race=race divergence=proved
// expect: inclusive finding race/global error on in lines 30
// expect: planes race=proved divergence=proved
// expect: planes precondition "h >= 1"
// expect: shifted race=race divergence=proved
// expect: shifted finding race/global warning on x lines 44,45 when "h > 1"
// expect: perBlock race=proved divergence=proved
// expect: perBlock silent
// expect: unread race=race divergence=proved
// expect: unread finding race/global warning on in lines 56 when "length > n"
// expect: copied race=proved divergence=proved
// expect: copied silent

// A workspace is divided at an offset that the kernel knows as an argument, or that it does not know.
#include <cuda_runtime.h>

__global__ void totals(const float* in, float* out, int n) {
  __shared__ float sums[256];
  float sum = 0;
  for (int i = threadIdx.x; i < n; i += 256) sum += in[i];
  sums[threadIdx.x] = sum;
  __syncthreads();
  if (threadIdx.x == 0) out[blockIdx.x] = sums[0] + sums[255];
}

__global__ void inclusive(const float* in, float* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i <= n) out[i] = in[i];
}

__global__ void planes(const float* x, float* y, float* z, int w, int h) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < w * h) {
    y[i] = x[i];
    z[i] = 2 * x[i];
  }
}

__global__ void shifted(const float* x, float* y, float* z, int w, int h) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < w * h) {
    y[i] = x[i];
    z[i] = 2 * x[i];
  }
}

__global__ void perBlock(float* partial, float* total) {
  if (threadIdx.x == 0) partial[blockIdx.x] = 1;
  if (threadIdx.x == 1 && blockIdx.x == 0) total[0] = 2;
}

__global__ void unread(const float* in, float* out, int n, int length) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < length) out[i] = in[i];
}

__global__ void copied(const float* in, const float* again, float* out, unsigned n) {
  unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = in[i] + again[i];
}

void run(float* workspace, int n, int w, int h, int length, unsigned count) {
  totals<<<8, 256>>>(workspace, workspace + n, n);
  inclusive<<<(n + 256) / 256, 256>>>(workspace, workspace + n, n);
  planes<<<(w * h + 255) / 256, 256>>>(workspace, workspace + w * h, workspace + 2 * w * h, w, h);
  shifted<<<(w * h + 255) / 256, 256>>>(workspace, workspace + w * h, workspace + w * h + w, w, h);
  perBlock<<<n, 64>>>(workspace, workspace + n);
  unread<<<(length + 255) / 256, 256>>>(workspace, workspace + n, n, length);
  copied<<<(count + 255) / 256, 256>>>(workspace, workspace, workspace + count, count);
}
