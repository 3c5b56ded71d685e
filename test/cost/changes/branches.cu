// Branches, early exits, warps that diverge.

// changes: threads diverge by their index instead of their warp's
// worse: divwarps at `if (threadIdx.x % 2 == 0)`
__global__ void choose(float *out, int n) {
  float v = threadIdx.x;
#ifdef AFTER
  if (threadIdx.x % 2 == 0)
#else
  if (threadIdx.x / 32 % 2 == 0)
#endif
    for (int k = 0; k < n; k++)
      v = v * v + 1.0f;
  else
    for (int k = 0; k < n; k++)
      v = v * 0.5f - 1.0f;
  out[blockIdx.x * blockDim.x + threadIdx.x] = v;
}
void callChoose(float *out) { choose<<<16, 128>>>(out, 20); }

// changes: threads diverge by the index of their warp
// better: divwarps
__global__ void select(float *out, int n) {
  float v = threadIdx.x;
#ifdef AFTER
  if (threadIdx.x / 32 % 2 == 0)
#else
  if (threadIdx.x % 2 == 0)
#endif
    for (int k = 0; k < n; k++)
      v = v * v + 1.0f;
  else
    for (int k = 0; k < n; k++)
      v = v * 0.5f - 1.0f;
  out[blockIdx.x * blockDim.x + threadIdx.x] = v;
}
void callSelect(float *out) { select<<<16, 128>>>(out, 20); }

// changes: the last block is guarded
// neutral
__global__ void guarded(float *out, const float *in, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
#ifdef AFTER
  if (i < n)
#endif
    out[i] = in[i] + 3.0f;
}
void callGuarded(float *out, const float *in) { guarded<<<1024, 256>>>(out, in, 262144); }

// changes: an early return for a guard
// neutral
__global__ void early(float *out, const float *in, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
#ifdef AFTER
  if (i >= n)
    return;
  out[i] = in[i] * 3.0f;
#else
  if (i < n)
    out[i] = in[i] * 3.0f;
#endif
}
void callEarly(float *out, const float *in, int n) { early<<<(n + 255) / 256, 256>>>(out, in, n); }

// changes: trip counts that differ between the lanes
// worse: divwarps
__global__ void uneven(float *out, int n) {
  float v = 1.0f;
#ifdef AFTER
  int rounds = n + threadIdx.x % 32;
#else
  int rounds = n;
#endif
#pragma unroll 1
  for (int k = 0; k < rounds; k++)
    v = v * 1.5f + 1.0f;
  out[blockIdx.x * blockDim.x + threadIdx.x] = v;
}
void callUneven(float *out) { uneven<<<16, 128>>>(out, 16); }

// changes: lanes that need nothing load nothing: the compiler had found that
// neutral
__global__ void sparing(float *out, const float *in) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
#ifdef AFTER
  float v = threadIdx.x % 32 < 8 ? in[i] : 0.0f;
#else
  float v = in[i];
#endif
  if (threadIdx.x % 32 < 8)
    out[i] = v;
}
void callSparing(float *out, const float *in) { sparing<<<64, 128>>>(out, in); }
