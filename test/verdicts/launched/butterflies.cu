// expect: butterflies race=proved divergence=proved
// expect: butterflies silent
// expect: butterfliesNoBarrier race=race divergence=proved
// expect: butterfliesNoBarrier finding race/shared error on s lines 43,44,45
// expect: butterfliesOverlap race=race divergence=proved
// expect: butterfliesOverlap finding race/shared error on s lines 60,61,62
// expect: butterfliesByWarps race=proved divergence=proved
// expect: butterfliesByWarps silent
// expect: butterfliesByWarpsTooLong race=race divergence=proved
// expect: butterfliesByWarpsTooLong finding race/shared error on s lines 96,97,98
// expect: rotaryHalves race=proved divergence=proved
// expect: rotaryHalves silent
// expect: rotaryHalvesAll race=race divergence=proved
// expect: rotaryHalvesAll finding race/global error on x lines 120,121,123,124
//
// Sums and differences of pairs: the stages of a Walsh-Hadamard transform over 512 elements, and rotary embedding.

__global__ void butterflies(float* out, const float* in) {
  __shared__ float s[512];
  int t = threadIdx.x;
  s[t] = in[blockIdx.x * 512 + t];
  s[t + 256] = in[blockIdx.x * 512 + t + 256];
  for (int d = 1; d < 512; d *= 2) {
    __syncthreads();
    int i = 2 * t - (t & (d - 1));
    float a = s[i], b = s[i + d];
    s[i] = a + b;
    s[i + d] = a - b;
  }
  __syncthreads();
  out[blockIdx.x * 512 + t] = s[t];
  out[blockIdx.x * 512 + t + 256] = s[t + 256];
}

__global__ void butterfliesNoBarrier(float* out, const float* in) {
  __shared__ float s[512];
  int t = threadIdx.x;
  s[t] = in[blockIdx.x * 512 + t];
  s[t + 256] = in[blockIdx.x * 512 + t + 256];
  __syncthreads();
  for (int d = 1; d < 512; d *= 2) {
    int i = 2 * t - (t & (d - 1));
    float a = s[i], b = s[i + d];
    s[i] = a + b;
    s[i + d] = a - b;
  }
  __syncthreads();
  out[blockIdx.x * 512 + t] = s[t];
  out[blockIdx.x * 512 + t + 256] = s[t + 256];
}

// The pairs of a stage are not disjoint: thread `t` and thread `t + d` share an element.
__global__ void butterfliesOverlap(float* out, const float* in) {
  __shared__ float s[512];
  int t = threadIdx.x;
  s[t] = in[blockIdx.x * 512 + t];
  s[t + 256] = in[blockIdx.x * 512 + t + 256];
  for (int d = 1; d < 512; d *= 2) {
    __syncthreads();
    float a = s[t], b = s[t + d];
    s[t] = a + b;
    s[t + d] = a - b;
  }
  __syncthreads();
  out[blockIdx.x * 512 + t] = s[t];
  out[blockIdx.x * 512 + t + 256] = s[t + 256];
}

// Up to a distance of 32 the pairs of a warp stay among its 64 elements.
__global__ void butterfliesByWarps(float* out, const float* in) {
  __shared__ float s[512];
  int t = threadIdx.x;
  s[t] = in[blockIdx.x * 512 + t];
  s[t + 256] = in[blockIdx.x * 512 + t + 256];
  __syncthreads();
  for (int d = 1; d < 512; d *= 2) {
    int i = 2 * t - (t & (d - 1));
    float a = s[i], b = s[i + d];
    s[i] = a + b;
    s[i + d] = a - b;
    if (d < 32) __syncwarp();
    else __syncthreads();
  }
  out[blockIdx.x * 512 + t] = s[t];
  out[blockIdx.x * 512 + t + 256] = s[t + 256];
}

__global__ void butterfliesByWarpsTooLong(float* out, const float* in) {
  __shared__ float s[512];
  int t = threadIdx.x;
  s[t] = in[blockIdx.x * 512 + t];
  s[t + 256] = in[blockIdx.x * 512 + t + 256];
  __syncthreads();
  for (int d = 1; d < 512; d *= 2) {
    int i = 2 * t - (t & (d - 1));
    float a = s[i], b = s[i + d];
    s[i] = a + b;
    s[i + d] = a - b;
    if (d < 64) __syncwarp();
    else __syncthreads();
  }
  out[blockIdx.x * 512 + t] = s[t];
  out[blockIdx.x * 512 + t + 256] = s[t + 256];
}

__global__ void rotaryHalves(float* x, const float* angle, int dim) {
  float* head = x + blockIdx.x * dim;
  int i = threadIdx.x, half = dim / 2;
  if (i >= half) return;
  float low = head[i], high = head[i + half], c = cosf(angle[i]), s = sinf(angle[i]);
  head[i] = low * c - high * s;
  head[i + half] = high * c + low * s;
}

// Two threads for each pair.
__global__ void rotaryHalvesAll(float* x, const float* angle, int dim) {
  float* head = x + blockIdx.x * dim;
  int i = threadIdx.x, half = dim / 2;
  if (i >= dim) return;
  float low = head[i];
  float high = head[i + half];
  float c = cosf(angle[i]), s = sinf(angle[i]);
  head[i] = low * c - high * s;
  head[i + half] = high * c + low * s;
}

void launchButterflies(float* out, float* x, const float* in) {
  butterflies<<<16, 256>>>(out, in);
  butterfliesNoBarrier<<<16, 256>>>(out, in);
  butterfliesOverlap<<<16, 256>>>(out, in);
  butterfliesByWarps<<<16, 256>>>(out, in);
  butterfliesByWarpsTooLong<<<16, 256>>>(out, in);
  rotaryHalves<<<100, 128>>>(x, in, 128);
  rotaryHalvesAll<<<100, 128>>>(x, in, 128);
}
