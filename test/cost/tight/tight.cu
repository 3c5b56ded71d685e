// Addresses and loops whose bounds are close to the counts of runs.

// sectors: 9
__global__ void clampLow(int *out, const int *in) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  out[i] = in[i == 0 ? i : i - 1];
}

// sectors: 10
__global__ void clampHigh(int *out, const int *in, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  out[i] = in[min(i + 1, n - 1)];
}

// sectors: 10
__global__ void oneOfTwo(int *out, const int *in, const int *flag) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  out[i] = in[flag[threadIdx.x / 32] > 0 ? i + 8 : i + 1] + 1;
}

// A select between arrays with a large distance touches both. sectors: 13
__global__ void eitherHalf(int *out, const int *in, int half) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  out[i] = in[(threadIdx.x & 1) == 0 ? i : i + half];
}

// sectors: 404*ceil(n/128)
__global__ void nested(float *c, const float *a, int n) {
  for (int v = blockIdx.x; v < n; v += gridDim.x) {
    float s = 0;
    for (int k = 0; k < 100; k++)
      s += a[k * 256 + threadIdx.x];
    c[v * 256 + threadIdx.x] = s;
  }
}

// The compiler unrolls the inner loop by four; its remainder comes first, and decides where the unrolled one starts.
// sectors: 5*ceil(vectorN/128)*ceil(elementN/256) + 4*ceil(vectorN/128)
__global__ void rows(float *c, const float *a, int vectorN, int elementN) {
  for (int vec = blockIdx.x; vec < vectorN; vec += gridDim.x) {
    int base = elementN * vec, end = base + elementN;
    float s = 0;
    for (int pos = base + threadIdx.x; pos < end; pos += 256)
      s += a[pos];
    c[vec * 256 + threadIdx.x] = s;
  }
}

// A warp of a table of 64 words, and neighbours under a mask. sectors: 8
__global__ void masked(int *out, const int *in, int stride) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  out[i & 63] = in[i & (stride - 1)];
}

// sectors: 10
__global__ void ring(int *out, const int *in, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  out[i] = in[(i + 1) % n];
}

// At most one lane of a warp wraps to the start. sectors: 10
__global__ void wrapped(int *out, const int *in, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  out[i] = in[i + 1 == n ? 0 : i + 1];
}
