// Twenty accesses and more in one kernel.

// launch: block=32 n~size grid=cover(n,32) a[4*n] b[4*n] out[4*n]
__global__ void quadProducts(const float *a, const float *b, float *out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  a += 4 * i, b += 4 * i, out += 4 * i;
  float r0 = a[0] * b[0] - a[1] * b[1] - a[2] * b[2] - a[3] * b[3];
  float r1 = a[0] * b[1] + a[1] * b[0] + a[2] * b[3] - a[3] * b[2];
  float r2 = a[0] * b[2] - a[1] * b[3] + a[2] * b[0] + a[3] * b[1];
  float r3 = a[0] * b[3] + a[1] * b[2] - a[2] * b[1] + a[3] * b[0];
  out[0] = r0, out[1] = r1, out[2] = r2, out[3] = r3;
}

// launch: block=32 n~1..40 grid=cover(n,32) a[16*n] b[16*n] out[16*n]
__global__ void multiply4x4(const float *a, const float *b, float *out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
#pragma unroll
  for (int r = 0; r < 4; r++)
#pragma unroll
    for (int c = 0; c < 4; c++) {
      float sum = 0;
#pragma unroll
      for (int k = 0; k < 4; k++) sum += a[16 * i + 4 * r + k] * b[16 * i + 4 * k + c];
      out[16 * i + 4 * r + c] = sum;
    }
}

// launch: block=32 n~1..40 grid=cover(n,32) m[16*n]
__global__ void transpose4x4InPlace(float *m, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float t[16];
#pragma unroll
  for (int k = 0; k < 16; k++) t[k] = m[16 * i + k];
#pragma unroll
  for (int k = 0; k < 16; k++) m[16 * i + k] = t[(k % 4) * 4 + k / 4];
}

// launch: block=32 n~1..40 grid=cover(n,32) m[16*n] out[16*n]
__global__ void transpose4x4(const float *m, float *out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
#pragma unroll
  for (int k = 0; k < 16; k++) out[16 * i + k] = m[16 * i + (k % 4) * 4 + k / 4];
}

// launch: block=4,4,2 n~3..7 grid=cover(n,4),cover(n,4),cover(n,2) in[n*n*n] out[n*n*n]
__global__ void stencil27(const int *in, int *out, int n) {
  int x = blockIdx.x * 4 + threadIdx.x, y = blockIdx.y * 4 + threadIdx.y, z = blockIdx.z * 2 + threadIdx.z;
  if (x < 1 || y < 1 || z < 1 || x >= n - 1 || y >= n - 1 || z >= n - 1) return;
  int sum = 0;
#pragma unroll
  for (int d = 0; d < 27; d++) sum += in[((z + d / 9 - 1) * n + y + d / 3 % 3 - 1) * n + x + d % 3 - 1] * (d + 1);
  out[(z * n + y) * n + x] = sum;
}

// launch: block=8,4 w~5..14 h~5..10 grid=cover(w,8),cover(h,4) in[w*h] weights[25] out[w*h]
__global__ void convolution5x5(const float *in, const float *weights, float *out, int w, int h) {
  int x = blockIdx.x * 8 + threadIdx.x, y = blockIdx.y * 4 + threadIdx.y;
  if (x < 2 || y < 2 || x >= w - 2 || y >= h - 2) return;
  float sum = 0;
#pragma unroll
  for (int k = 0; k < 25; k++) sum += in[(y + k / 5 - 2) * w + x + k % 5 - 2] * weights[k];
  out[y * w + x] = sum;
}

// launch: block=8,4 w~3..14 h~3..10 grid=cover(w,8),cover(h,4) from[9*w*h] to[9*w*h]
__global__ void latticeBoltzmann(const float *from, float *to, int w, int h) {
  int x = blockIdx.x * 8 + threadIdx.x, y = blockIdx.y * 4 + threadIdx.y;
  if (x < 1 || y < 1 || x >= w - 1 || y >= h - 1) return;
  const int cx[9] = {0, 1, 0, -1, 0, 1, -1, -1, 1}, cy[9] = {0, 0, 1, 0, -1, 1, 1, -1, -1};
  float f[9], density = 0;
#pragma unroll
  for (int k = 0; k < 9; k++) {
    f[k] = from[(k * h + y - cy[k]) * w + x - cx[k]];
    density += f[k];
  }
#pragma unroll
  for (int k = 0; k < 9; k++) to[(k * h + y) * w + x] = 0.9f * f[k] + 0.1f * density / 9;
  to[y * w + x] += 0.01f;
}

// launch: block=32 n~size grid=cover(n,32) x[n] y[n] z[n] vx[n] vy[n] vz[n] fx[n] fy[n] fz[n] mass[n] dt=f:0.5
__global__ void integrate(float *x, float *y, float *z, float *vx, float *vy, float *vz, const float *fx, const float *fy, const float *fz, const float *mass, float dt, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float a = dt / (mass[i] + 1);
  vx[i] += fx[i] * a, vy[i] += fy[i] * a, vz[i] += fz[i] * a;
  x[i] += vx[i] * dt, y[i] += vy[i] * dt, z[i] += vz[i] * dt;
}

// launch: block=32 n~size grid=cover(n,32) x[n] y[n] z[n] vx[n] vy[n] vz[n] fx[n] fy[n] fz[n] nx[n] ny[n] nz[n] wx[n] wy[n] wz[n] dt=f:0.5
__global__ void integrateInto(const float *x, const float *y, const float *z, const float *vx, const float *vy, const float *vz, const float *fx, const float *fy, const float *fz, float *nx, float *ny, float *nz, float *wx, float *wy, float *wz, float dt, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float a = vx[i] + fx[i] * dt, b = vy[i] + fy[i] * dt, c = vz[i] + fz[i] * dt;
  wx[i] = a, wy[i] = b, wz[i] = c;
  nx[i] = x[i] + a * dt, ny[i] = y[i] + b * dt, nz[i] = z[i] + c * dt;
  if (i == 0) nx[0] = 0, ny[0] = 0, nz[0] = 0, wx[0] = x[0], wy[0] = y[0];
}

// launch: block=32 n~1..50 grid=cover(n,32) re[8*n] im[8*n] outRe[8*n] outIm[8*n]
__global__ void radix8(const float *re, const float *im, float *outRe, float *outIm, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float a[8], b[8];
#pragma unroll
  for (int k = 0; k < 8; k++) a[k] = re[i + k * n], b[k] = im[i + k * n];
#pragma unroll
  for (int k = 0; k < 4; k++) {
    outRe[8 * i + k] = a[k] + a[k + 4], outIm[8 * i + k] = b[k] + b[k + 4];
    outRe[8 * i + k + 4] = a[k] - a[k + 4], outIm[8 * i + k + 4] = b[k] - b[k + 4];
  }
}

// launch: block=32 n~1..50 grid=cover(n,32) re[8*n] im[8*n]
__global__ void radix8InPlace(float *re, float *im, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
#pragma unroll
  for (int k = 0; k < 4; k++) {
    float a = re[i + k * n], b = im[i + k * n], c = re[i + (k + 4) * n], d = im[i + (k + 4) * n];
    re[i + k * n] = a + c, im[i + k * n] = b + d;
    re[i + (k + 4) * n] = a - c, im[i + (k + 4) * n] = b - d;
  }
}

// launch: block=32 n~1..40 grid=cover(n,32) keys[8*n] sorted[8*n]
__global__ void sortingNetwork8(const int *keys, int *sorted, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  int k[8];
#pragma unroll
  for (int j = 0; j < 8; j++) k[j] = keys[8 * i + j];
#pragma unroll
  for (int r = 0; r < 8; r++)
#pragma unroll
    for (int j = r % 2; j + 1 < 8; j += 2) {
      int low = min(k[j], k[j + 1]), high = max(k[j], k[j + 1]);
      k[j] = low, k[j + 1] = high;
    }
#pragma unroll
  for (int j = 0; j < 8; j++) sorted[8 * i + j] = k[j];
  if (i == 0) for (int j = 0; j < 8; j++) sorted[j] = k[j] + 0;
}

// launch: block=32 n~1..40 grid=cover(n,32) keys[8*n]
__global__ void sortingNetwork8InPlace(int *keys, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  int k[8];
#pragma unroll
  for (int j = 0; j < 8; j++) k[j] = keys[i + j * n];
#pragma unroll
  for (int r = 0; r < 8; r++)
#pragma unroll
    for (int j = r % 2; j + 1 < 8; j += 2) {
      int low = min(k[j], k[j + 1]), high = max(k[j], k[j + 1]);
      k[j] = low, k[j + 1] = high;
    }
#pragma unroll
  for (int j = 0; j < 8; j++) keys[i + j * n] = k[j];
}

// launch: block=32 n~1..40 grid=cover(n,32) in[16*n] out[16*n]
__global__ void prefixOf16(const int *in, int *out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  int sum = 0;
#pragma unroll
  for (int k = 0; k < 16; k++) {
    sum += in[16 * i + k];
    out[16 * i + k] = sum;
  }
}

// launch: block=32 n~1..40 grid=cover(n,32) packed[2*n] scales[n] zeros[n] out[16*n]
__global__ void dequantiseGroups(const unsigned *packed, const float *scales, const float *zeros, float *out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float scale = scales[i], zero = zeros[i];
#pragma unroll
  for (int k = 0; k < 16; k++) out[16 * i + k] = ((packed[2 * i + k / 8] >> (4 * (k % 8))) & 15) * scale - zero;
}

// launch: block=32 n~size grid=cover(n,32) p[n] g[n] m[n] v[n] lr=f:0.1
__global__ void adam(float *p, const float *g, float *m, float *v, float lr, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float a = 0.9f * m[i] + 0.1f * g[i], b = 0.99f * v[i] + 0.01f * g[i] * g[i];
  m[i] = a, v[i] = b;
  p[i] -= lr * a / (sqrtf(b) + 1e-6f);
}

// launch: block=32 n~1..40 grid=cover(n,32) p[4*n] g[4*n] m[4*n] v[4*n] q[4*n] mm[4*n] vv[4*n] lr=f:0.1
__global__ void adamInto(const float *p, const float *g, const float *m, const float *v, float *q, float *mm, float *vv, float lr, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
#pragma unroll
  for (int k = 0; k < 4; k++) {
    int j = i + k * n;
    float a = 0.9f * m[j] + 0.1f * g[j], b = 0.99f * v[j] + 0.01f * g[j] * g[j];
    mm[j] = a, vv[j] = b;
    q[j] = p[j] - lr * a / (sqrtf(b) + 1e-6f);
  }
}

// launch: block=32 n~1..40 m~1..30 grid=cover(n,32) neighbours[16*n]<m values[m] out[n]
// selvage: assume(neighbours[*] in 0..m - 1)
__global__ void gather16(const int *neighbours, const float *values, float *out, int n, int m) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float sum = 0;
#pragma unroll
  for (int k = 0; k < 16; k++) sum += values[neighbours[16 * i + k]];
  out[i] = sum;
}

// launch: block=32 n~1..40 grid=cover(n,32) rgb[24*n] yuv[24*n]
__global__ void yuvOfRgb(const unsigned char *rgb, unsigned char *yuv, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
#pragma unroll
  for (int k = 0; k < 8; k++) {
    int r = rgb[24 * i + 3 * k], g = rgb[24 * i + 3 * k + 1], b = rgb[24 * i + 3 * k + 2];
    yuv[24 * i + 3 * k] = (66 * r + 129 * g + 25 * b) >> 8;
    yuv[24 * i + 3 * k + 1] = ((112 * b - 38 * r - 74 * g) >> 8) + 128;
    yuv[24 * i + 3 * k + 2] = ((112 * r - 94 * g - 18 * b) >> 8) + 128;
  }
}

// launch: block=32 n~1..40 grid=cover(n,32) in[8*n] bias[8] residual[8*n] out[8*n]
__global__ void biasResidualGelu(const float *in, const float *bias, const float *residual, float *out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
#pragma unroll
  for (int k = 0; k < 8; k++) {
    float x = in[8 * i + k] + bias[k];
    out[8 * i + k] = residual[8 * i + k] + 0.5f * x * (1 + tanhf(0.8f * x));
  }
}

// launch: block=32 n~1..40 grid=cover(n,32) in[16*n] out[16*n]
__global__ void copyChunks(const float4 *in, float4 *out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
#pragma unroll
  for (int k = 0; k < 16; k++) out[i + k * n] = in[i + k * n];
}

// launch: block=32 n~1..40 grid=cover(n,32) u[12*n]
__global__ void advanceFields(float *u, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
#pragma unroll
  for (int k = 0; k < 12; k++) u[12 * i + k] = 0.5f * u[12 * i + k] + k;
}

// launch: block=32 n~1..40 grid=cover(n,32) u[24*n]
__global__ void upperFieldsFromLower(float *u, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
#pragma unroll
  for (int k = 0; k < 12; k++) u[24 * i + 12 + k] = 0.5f * u[24 * i + k] + k;
}

// launch: block=8,8 grid=1,1 A[64*2] B[64*2] C[64*2] bias[8]
__global__ void tiledWithEpilogue(const float *A, const float *B, float *C, const float *bias) {
  __shared__ float a[8][8], b[8][8];
  int x = threadIdx.x, y = threadIdx.y;
#pragma unroll
  for (int half = 0; half < 2; half++) {
    a[y][x] = A[half * 64 + y * 8 + x], b[y][x] = B[half * 64 + y * 8 + x];
    __syncthreads();
    float sum = bias[x];
#pragma unroll
    for (int k = 0; k < 8; k++) sum += a[y][k] * b[k][x];
    C[half * 64 + y * 8 + x] = fmaxf(sum, 0.0f);
    __syncthreads();
  }
}

// launch: block=32 n~1..30 grid=cover(n,32) vertices[9*n] normals[9*n] areas[n]
__global__ void triangleNormals(const float *vertices, float *normals, float *areas, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const float *v = vertices + 9 * i;
  float ax = v[3] - v[0], ay = v[4] - v[1], az = v[5] - v[2], bx = v[6] - v[0], by = v[7] - v[1], bz = v[8] - v[2];
  float nx = ay * bz - az * by, ny = az * bx - ax * bz, nz = ax * by - ay * bx;
#pragma unroll
  for (int k = 0; k < 3; k++) normals[9 * i + 3 * k] = nx, normals[9 * i + 3 * k + 1] = ny, normals[9 * i + 3 * k + 2] = nz;
  areas[i] = 0.5f * sqrtf(nx * nx + ny * ny + nz * nz);
}

// launch: block=32 n~4..60 grid=cover(n,32) u[n] v[n] w[n] du[n] dv[n] dw[n]
__global__ void coupledStencils(const float *u, const float *v, const float *w, float *du, float *dv, float *dw, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < 2 || i >= n - 2) return;
  float a = u[i - 2] - 4 * u[i - 1] + 6 * u[i] - 4 * u[i + 1] + u[i + 2];
  float b = v[i - 2] - 4 * v[i - 1] + 6 * v[i] - 4 * v[i + 1] + v[i + 2];
  float c = w[i - 2] - 4 * w[i - 1] + 6 * w[i] - 4 * w[i + 1] + w[i + 2];
  du[i] = a + b, dv[i] = b + c, dw[i] = c + a;
  if (i == 2) du[0] = a, dv[0] = b, dw[0] = c;
}

// launch: block=32 n~1..40 grid=cover(n,32) a[10*n] b[10*n] c[10*n]
__global__ void bandedProducts(const int *a, const int *b, int *c, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
#pragma unroll
  for (int k = 0; k < 10; k++) c[k * n + i] = a[k * n + i] * b[(9 - k) * n + i];
}

// launch: block=32 n~1..40 grid=cover(n,32) mode~0..2 a[8*n] b[8*n] c[8*n]
__global__ void modalUpdate(int *a, const int *b, const int *c, int mode, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  if (mode == 0) {
#pragma unroll
    for (int k = 0; k < 8; k++) a[8 * i + k] = b[8 * i + k] + c[8 * i + k];
  } else if (mode == 1) {
#pragma unroll
    for (int k = 0; k < 8; k++) a[8 * i + k] += b[8 * i + k];
  } else {
#pragma unroll
    for (int k = 0; k < 8; k++) a[8 * i + k] = b[8 * i + k];
  }
}
