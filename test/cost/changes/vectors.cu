// Work per thread: wider loads, several elements, grid-stride loops.

// changes: four elements per thread, a quarter of the blocks
// better: steps
#ifdef AFTER
__global__ void saxpy(float *y, const float *x, float a, int n) {
  int i = 4 * (blockIdx.x * blockDim.x + threadIdx.x);
  if (i < n) {
    float4 u = *(const float4 *)(x + i), v = *(float4 *)(y + i);
    v.x += a * u.x;
    v.y += a * u.y;
    v.z += a * u.z;
    v.w += a * u.w;
    *(float4 *)(y + i) = v;
  }
}
void callSaxpy(float *y, const float *x) { saxpy<<<1024, 256>>>(y, x, 2.0f, 1048576); }
#else
__global__ void saxpy(float *y, const float *x, float a, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    y[i] += a * x[i];
}
void callSaxpy(float *y, const float *x) { saxpy<<<4096, 256>>>(y, x, 2.0f, 1048576); }
#endif

// changes: one element per thread instead of four
// worse: steps
#ifdef AFTER
__global__ void shift(float *y, const float *x, float a) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  y[i] = x[i] + a;
}
void callShift(float *y, const float *x) { shift<<<2048, 128>>>(y, x, 2.0f); }
#else
__global__ void shift(float4 *y, const float4 *x, float a) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  float4 v = x[i];
  y[i] = make_float4(v.x + a, v.y + a, v.z + a, v.w + a);
}
void callShift(float4 *y, const float4 *x) { shift<<<512, 128>>>(y, x, 2.0f); }
#endif

// changes: a grid-stride loop
// neutral
__global__ void scale(float *y, const float *x, float a, int n) {
#ifdef AFTER
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
    y[i] = a * x[i];
#else
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    y[i] = a * x[i];
#endif
}
#ifdef AFTER
void callScale(float *y, const float *x) { scale<<<512, 256>>>(y, x, 2.0f, 1048576); }
#else
void callScale(float *y, const float *x) { scale<<<4096, 256>>>(y, x, 2.0f, 1048576); }
#endif

// changes: two elements per thread, next to each other
// worse: sectors at `y[2 * i + 1] = x[2 * i + 1] - 1.0f;`
#ifdef AFTER
__global__ void pairwise(float *y, const float *x) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  y[2 * i] = x[2 * i] - 1.0f;
  y[2 * i + 1] = x[2 * i + 1] - 1.0f;
}
void callPairwise(float *y, const float *x) { pairwise<<<512, 256>>>(y, x); }
#else
__global__ void pairwise(float *y, const float *x) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  y[i] = x[i] - 1.0f;
}
void callPairwise(float *y, const float *x) { pairwise<<<1024, 256>>>(y, x); }
#endif

// changes: two elements per thread, with a distance of one block
// neutral
#ifdef AFTER
__global__ void halves(float *y, const float *x) {
  int i = blockIdx.x * 2 * blockDim.x + threadIdx.x;
  y[i] = x[i] - 1.0f;
  y[i + blockDim.x] = x[i + blockDim.x] - 1.0f;
}
void callHalves(float *y, const float *x) { halves<<<512, 256>>>(y, x); }
#else
__global__ void halves(float *y, const float *x) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  y[i] = x[i] - 1.0f;
}
void callHalves(float *y, const float *x) { halves<<<1024, 256>>>(y, x); }
#endif

// changes: single bytes become words
// better: steps
#ifdef AFTER
__global__ void invert(uchar4 *y, const uchar4 *x) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  uchar4 v = x[i];
  y[i] = make_uchar4(255 - v.x, 255 - v.y, 255 - v.z, 255 - v.w);
}
void callInvert(uchar4 *y, const uchar4 *x) { invert<<<128, 256>>>(y, x); }
#else
__global__ void invert(unsigned char *y, const unsigned char *x) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  y[i] = 255 - x[i];
}
void callInvert(unsigned char *y, const unsigned char *x) { invert<<<512, 256>>>(y, x); }
#endif

// changes: four elements per thread, of a size that the host divides by four
// better: steps
#ifdef AFTER
__global__ void addScaled(float4 *y, const float4 *x, float a, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) {
    float4 u = x[i], v = y[i];
    y[i] = make_float4(a * u.x + v.x, a * u.y + v.y, a * u.z + v.z, a * u.w + v.w);
  }
}
void callAddScaled(float *y, const float *x, int n) {
  addScaled<<<(n / 4 + 255) / 256, 256>>>((float4 *)y, (const float4 *)x, 2.0f, n / 4);
}
#else
__global__ void addScaled(float *y, const float *x, float a, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    y[i] = a * x[i] + y[i];
}
void callAddScaled(float *y, const float *x, int n) { addScaled<<<(n + 255) / 256, 256>>>(y, x, 2.0f, n); }
#endif

// changes: one element per thread, of the size that the host has
// worse: steps
#ifdef AFTER
__global__ void addAll(float *y, const float *x, float a, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    y[i] = a * x[i] + y[i];
}
void callAddAll(float *y, const float *x, int n) { addAll<<<(n + 255) / 256, 256>>>(y, x, 2.0f, n); }
#else
__global__ void addAll(float4 *y, const float4 *x, float a, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) {
    float4 u = x[i], v = y[i];
    y[i] = make_float4(a * u.x + v.x, a * u.y + v.y, a * u.z + v.z, a * u.w + v.w);
  }
}
void callAddAll(float *y, const float *x, int n) {
  addAll<<<(n / 4 + 255) / 256, 256>>>((float4 *)y, (const float4 *)x, 2.0f, n / 4);
}
#endif
