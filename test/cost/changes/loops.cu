// Loops: order, depth, body.

// changes: a loop around the loop
// worse: steps
__global__ void chain(float *out, float seed, int n) {
  float v = seed + threadIdx.x;
  for (int i = 0; i < n; i++)
#ifdef AFTER
    for (int k = 0; k < n; k++)
#endif
      v = v * v + 0.5f;
  out[blockIdx.x * blockDim.x + threadIdx.x] = v;
}
void callChain(float *out) { chain<<<16, 64>>>(out, 1.0f, 64); }

// changes: a load moved out of the loop
// better: sectors
__global__ void weighted(float *out, const float *in, volatile const float *weight, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  float sum = 0.0f;
#ifdef AFTER
  float w = weight[0] + weight[8];
#endif
  for (int k = 0; k < n; k++) {
#ifndef AFTER
    float w = weight[0] + weight[8];
#endif
    sum += w * in[k * 4096 + i];
  }
  out[i] = sum;
}
void callWeighted(float *out, const float *in, const float *weight) { weighted<<<16, 256>>>(out, in, weight, 32); }

// changes: a load moved into the loop
// worse: sectors at `v = v * *factor + 1.0f;`
__global__ void powers(float *out, volatile const float *factor, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  float v = 1.0f;
#ifdef AFTER
  for (int k = 0; k < n; k++)
    v = v * *factor + 1.0f;
#else
  float f = *factor;
  for (int k = 0; k < n; k++)
    v = v * f + 1.0f;
#endif
  out[i] = v;
}
void callPowers(float *out, const float *factor) { powers<<<16, 256>>>(out, factor, 48); }

// changes: threads go along rows instead of columns
// worse: sectors at `sum += a[i * n + k];`
__global__ void rowSums(float *out, const float *a, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  float sum = 0.0f;
  for (int k = 0; k < n; k++)
#ifdef AFTER
    sum += a[i * n + k];
#else
    sum += a[k * n + i];
#endif
  out[i] = sum;
}
void callRowSums(float *out, const float *a) { rowSums<<<2, 128>>>(out, a, 256); }

// changes: threads go along columns instead of rows
// better: sectors
__global__ void columnSums(float *out, const float *a, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  float sum = 0.0f;
  for (int k = 0; k < n; k++)
#ifdef AFTER
    sum += a[k * n + i];
#else
    sum += a[i * n + k];
#endif
  out[i] = sum;
}
void callColumnSums(float *out, const float *a) { columnSums<<<2, 128>>>(out, a, 256); }

// changes: twice the number of iterations
// worse: sectors
__global__ void smooth(float *out, const float *in) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  float sum = 0.0f;
#ifdef AFTER
  for (int k = 0; k < 64; k++)
#else
  for (int k = 0; k < 32; k++)
#endif
    sum += in[i + k];
  out[i] = sum;
}
void callSmooth(float *out, const float *in) { smooth<<<32, 128>>>(out, in); }

// changes: the loop is marked not to be unrolled
// worse: steps
__global__ void dots(float *out, const float *a, const float *b) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  float sum = 0.0f;
#ifdef AFTER
#pragma unroll 1
#endif
  for (int k = 0; k < 16; k++)
    sum += a[k * 4096 + i] * b[k * 4096 + i];
  out[i] = sum;
}
void callDots(float *out, const float *a, const float *b) { dots<<<16, 256>>>(out, a, b); }
