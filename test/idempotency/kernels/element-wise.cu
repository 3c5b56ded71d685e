// Element by element: one thread or a stride of the grid for each.

// launch: block=64 grid=1..4 A[threads] val=7
__global__ void vectorSet(int *A, int val) {
  int idx = blockIdx.x * blockDim.x + threadIdx.x;
  A[idx] = val;
}

// launch: block=64 grid=1..4 A[threads] B[threads] C[threads]
__global__ void vectorAdd(int *A, const int *B, const int *C) {
  int idx = blockIdx.x * blockDim.x + threadIdx.x;
  A[idx] = B[idx] + C[idx];
}

// launch: block=64 grid=1..4 A[threads]
__global__ void vectorInc(int *A) {
  int idx = blockIdx.x * blockDim.x + threadIdx.x;
  A[idx] = A[idx] + 1;
}

// launch: block=32 grid=1..4 N~1..20 A[threads*N] B[threads*N]
__global__ void elemwiseRelu(const float *A, float *B, int N) {
  for (int i = 0; i < N; i++) {
    int idx = (blockIdx.x * blockDim.x + threadIdx.x) * N + i;
    B[idx] = fmaxf(A[idx], 0.0f);
  }
}

// launch: block=64 n~size grid=cover(n,64) x[n] y[n] a=f:1.5
__global__ void axpy(int n, float a, const float *x, float *y) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = a * x[i] + y[i];
}

// launch: block=64 n~size grid=cover(n,64) x[n] y[n] z[n] a=f:1.5
__global__ void axpyInto(int n, float a, const float *x, const float *y, float *z) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) z[i] = a * x[i] + y[i];
}

// launch: block=64 n~size grid=1..3 to[n] from[n]
__global__ void copyStrided(float *to, const float *from, int n) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) to[i] = from[i];
}

// launch: block=64 n~size grid=1..3 a[n] value=f:2.5
__global__ void fillStrided(float *a, float value, int n) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) a[i] = value;
}

// launch: block=64 n~size grid=cover(n,64) to[n] from[n]
__global__ void copyVector4(float4 *to, const float4 *from, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) to[i] = from[i];
}

// launch: block=64 n~size grid=cover(n,64) x[n]
__global__ void reluInPlace(float *x, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) x[i] = fmaxf(x[i], 0.0f);
}

// launch: block=64 n~size grid=cover(n,64) x[n]
__global__ void clampInPlace(int *x, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) x[i] = min(max(x[i], 3), 60);
}

// launch: block=64 n~size grid=cover(n,64) x[n]
__global__ void absoluteInPlace(int *x, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) x[i] = abs(x[i]);
}

// launch: block=64 n~size grid=cover(n,64) x[n]
__global__ void maskInPlace(unsigned *x, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) x[i] = x[i] & 0x00ff00ffu;
}

// launch: block=64 n~size grid=cover(n,64) x[n] s=f:1.5
__global__ void scaleInPlace(float *x, float s, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) x[i] *= s;
}

// launch: block=64 n~size grid=cover(n,64) in[n] out[n]
__global__ void gelu(const float *__restrict__ in, float *__restrict__ out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float x = in[i];
  out[i] = 0.5f * x * (1.0f + tanhf(0.7978845608f * (x + 0.044715f * x * x * x)));
}

// launch: block=64 n~size grid=cover(n,64) in[n] out[n]
__global__ void invertBytes(const unsigned char *in, unsigned char *out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = 255 - in[i];
}

// launch: block=64 n~size grid=cover(n,64) in[n] out[n]
__global__ void widenBytes(const unsigned char *in, int *out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = in[i];
}

// launch: block=64 n~size grid=cover(n,64) a[n] b[n] c[n] d[n]
__global__ void select4(const int *a, const int *b, const int *c, int *d, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) d[i] = a[i] > 50 ? b[i] : c[i];
}
