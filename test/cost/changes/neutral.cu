// Changes without a cost: names, forms, order.

#ifdef AFTER
static __device__ __forceinline__ float blend(float a, float b, float t) { return a + t * (b - a); }
template <int Size> __device__ int indexOf() { return blockIdx.x * Size + threadIdx.x; }
#else
#define INDEX (blockIdx.x * 128 + threadIdx.x)
#endif

// changes: a helper function extracted
// neutral
__global__ void mix(float *out, const float *a, const float *b, float t) {
  int i = blockIdx.x * 128 + threadIdx.x;
#ifdef AFTER
  out[i] = blend(a[i], b[i], t);
#else
  out[i] = a[i] + t * (b[i] - a[i]);
#endif
}
void callMix(float *out, const float *a, const float *b) { mix<<<64, 128>>>(out, a, b, 0.25f); }

// changes: a template instead of a macro
// neutral
__global__ void squares(float *out, const float *in) {
#ifdef AFTER
  int i = indexOf<128>();
#else
  int i = INDEX;
#endif
  out[i] = in[i] * in[i];
}
void callSquares(float *out, const float *in) { squares<<<64, 128>>>(out, in); }

// changes: names
// neutral
#ifdef AFTER
__global__ void cubes(float *result, const float *values) {
  int index = blockIdx.x * 128 + threadIdx.x;
  float value = values[index];
  result[index] = value * value * value;
}
#else
__global__ void cubes(float *out, const float *in) {
  int i = blockIdx.x * 128 + threadIdx.x;
  float v = in[i];
  out[i] = v * v * v;
}
#endif
void callCubes(float *out, const float *in) { cubes<<<64, 128>>>(out, in); }

// changes: the formatting of the source
// neutral
#ifdef AFTER
__global__ void sums(float *out, const float *a, const float *b)
{
  const int i =
      blockIdx.x * 128 +
      threadIdx.x;

  // Adds two vectors.
  out[i] = a[i] + b[i];
}
#else
__global__ void sums(float *out, const float *a, const float *b) { int i = blockIdx.x * 128 + threadIdx.x; out[i] = a[i] + b[i]; }
#endif
void callSums(float *out, const float *a, const float *b) { sums<<<64, 128>>>(out, a, b); }

// changes: a conditional expression instead of a branch
// neutral
__global__ void clamp(float *out, const float *in, float most) {
  int i = blockIdx.x * 128 + threadIdx.x;
  float v = in[i];
#ifdef AFTER
  out[i] = v > most ? most : v;
#else
  if (v > most)
    v = most;
  out[i] = v;
#endif
}
void callClamp(float *out, const float *in) { clamp<<<64, 128>>>(out, in, 1.0f); }

// changes: statements in another order
// neutral
__global__ void both(float *out, float *rest, const float *in) {
  int i = blockIdx.x * 128 + threadIdx.x;
#ifdef AFTER
  rest[i] = in[i] - 1.0f;
  out[i] = in[i] + 1.0f;
#else
  out[i] = in[i] + 1.0f;
  rest[i] = in[i] - 1.0f;
#endif
}
void callBoth(float *out, float *rest, const float *in) { both<<<64, 128>>>(out, rest, in); }

// changes: while instead of for
// neutral
__global__ void repeat(float *out, int n) {
  float v = 1.0f;
#ifdef AFTER
  int k = 0;
  while (k < n) {
    v = v * 1.5f - 1.0f;
    ++k;
  }
#else
  for (int k = 0; k < n; k++)
    v = v * 1.5f - 1.0f;
#endif
  out[blockIdx.x * 128 + threadIdx.x] = v;
}
void callRepeat(float *out) { repeat<<<64, 128>>>(out, 40); }

// changes: size_t for the index
// neutral
__global__ void wide(float *out, const float *in, int n) {
#ifdef AFTER
  size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
#else
  int i = blockIdx.x * blockDim.x + threadIdx.x;
#endif
  if (i < n)
    out[i] = in[i] / 3.0f;
}
void callWide(float *out, const float *in, int n) { wide<<<(n + 255) / 256, 256>>>(out, in, n); }

// changes: __restrict__
// neutral
#ifdef AFTER
__global__ void plain(float *__restrict__ out, const float *__restrict__ in) {
#else
__global__ void plain(float *out, const float *in) {
#endif
  int i = blockIdx.x * 128 + threadIdx.x;
  out[i] = in[i] + 2.0f;
}
void callPlain(float *out, const float *in) { plain<<<64, 128>>>(out, in); }

// changes: a lambda
// neutral
__global__ void applied(float *out, const float *in) {
  int i = blockIdx.x * 128 + threadIdx.x;
#ifdef AFTER
  auto f = [](float v) { return v * v + 1.0f; };
  out[i] = f(in[i]);
#else
  out[i] = in[i] * in[i] + 1.0f;
#endif
}
void callApplied(float *out, const float *in) { applied<<<64, 128>>>(out, in); }

// changes: launched through a wrapper
// neutral
__global__ void wrapped(float *out, const float *in) {
  int i = blockIdx.x * 128 + threadIdx.x;
  out[i] = in[i] * 7.0f;
}
#ifdef AFTER
static void launchWrapped(int blocks, float *out, const float *in) { wrapped<<<blocks, 128>>>(out, in); }
void callWrapped(float *out, const float *in) { launchWrapped(64, out, in); }
#else
void callWrapped(float *out, const float *in) { wrapped<<<64, 128>>>(out, in); }
#endif
