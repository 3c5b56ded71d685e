// Figures of kernels in addition to their bounds.

// Two constants without a suffix make the line double; 0.25f and the double that is meant do not.
__global__ void scale(float *out, const float *in, double *wide, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n)
    return;
  float x = in[i] * 0.25f;
  wide[i] = x * 3.0;
  out[i] = x * 0.5 + 1.5;
}

// All threads add to one word; each block reads its 128 bytes twice.
__global__ void total(int *sum, const int *in) {
  int own = in[blockIdx.x * 32 + threadIdx.x] / 7;
  __syncthreads();
  own += ((const volatile int *)in)[blockIdx.x * 32 + 31 - threadIdx.x];
  atomicAdd(sum, own);
}

// A few registers above full occupancy.
__global__ void __launch_bounds__(256) crowded(float *out, const float *in) {
  float v[28];
#pragma unroll
  for (int k = 0; k < 28; k++)
    v[k] = in[blockIdx.x * 7168 + k * 256 + threadIdx.x];
  float s = 0;
#pragma unroll
  for (int k = 0; k < 28; k++) {
    s = rsqrtf(s + v[k]) * v[27 - k];
#pragma unroll
    for (int m = 0; m < 28; m++)
      v[m] += s * v[k];
  }
  out[blockIdx.x * 256 + threadIdx.x] = s;
}

void go(float *out, float *in, double *wide, int *sum, int *ints) {
  scale<<<16, 256>>>(out, in, wide, 4096);
  total<<<4000, 32>>>(sum, ints);
  crowded<<<432, 256>>>(out, in);
}
