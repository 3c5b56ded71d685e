// Elements of different parts that alternate in memory.

// launch: block=64 grid=1..3 p[2*threads]
__global__ void evenFromOdd(int *p) {
  int tid = blockIdx.x * blockDim.x + threadIdx.x;
  p[tid * 2] = p[tid * 2 + 1];
}

// launch: block=64 n~size grid=cover(n,64) re[2*n] im[2*n]
__global__ void realFromImaginary(float *re, const float *im, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) re[2 * i] = 2.0f * im[2 * i];
}

// launch: block=64 n~size grid=cover(n,64) a[n] b[n] out[n]
__global__ void complexProduct(const float2 *a, const float2 *b, float2 *out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float2 x = a[i], y = b[i];
  out[i] = make_float2(x.x * y.x - x.y * y.y, x.x * y.y + x.y * y.x);
}

// launch: block=64 n~size grid=cover(n,64) c[n]
__global__ void conjugateInPlace(float2 *c, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) c[i].y = -c[i].y;
}

struct Particle { float x, y, vx, vy; };

// launch: block=64 n~size grid=cover(n,64) p[4*n] dt=f:0.5
__global__ void positionsFromVelocities(float *p, float dt, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  p[4 * i] = dt * p[4 * i + 2];
  p[4 * i + 1] = dt * p[4 * i + 3];
}

// launch: block=64 n~size grid=cover(n,64) aos[4*n] x[n] y[n] vx[n] vy[n]
__global__ void splitStructures(const float *aos, float *x, float *y, float *vx, float *vy, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  x[i] = aos[4 * i];
  y[i] = aos[4 * i + 1];
  vx[i] = aos[4 * i + 2];
  vy[i] = aos[4 * i + 3];
}

// launch: block=64 n~size grid=cover(n,64) aos[4*n] x[n] y[n] vx[n] vy[n]
__global__ void joinStructures(float *aos, const float *x, const float *y, const float *vx, const float *vy, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  aos[4 * i] = x[i];
  aos[4 * i + 1] = y[i];
  aos[4 * i + 2] = vx[i];
  aos[4 * i + 3] = vy[i];
}

// launch: block=64 n~size grid=cover(n,64) rgb[3*n] grey[n]
__global__ void greyOfColours(const unsigned char *rgb, unsigned char *grey, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) grey[i] = (rgb[3 * i] * 77 + rgb[3 * i + 1] * 150 + rgb[3 * i + 2] * 29) >> 8;
}

// launch: block=64 n~size grid=cover(n,64) rgba[4*n]
__global__ void opaqueInPlace(unsigned char *rgba, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) rgba[4 * i + 3] = 255;
}

// launch: block=64 n~size grid=cover(n,64) rgba[4*n]
__global__ void alphaFromRed(unsigned char *rgba, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) rgba[4 * i + 3] = rgba[4 * i] / 2;
}

// launch: block=32 rows~1..6 ld~8..12 w~1..4 grid=rows m[rows*ld]
// selvage: assume(w <= 4) assume(ld >= 8)
__global__ void rightOfRowsFromLeft(float *m, int w, int ld) {
  int c = threadIdx.x;
  if (c < w) m[blockIdx.x * ld + 4 + c] = m[blockIdx.x * ld + c] + 1.0f;
}
