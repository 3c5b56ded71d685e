// expect: fits race=proved divergence=proved
// expect: block_too_large race=possible divergence=proved finding memory/out-of-bounds lines 17,17
// expect: halo_forgotten race=possible divergence=proved finding memory/out-of-bounds lines 26,26
// expect: halo_guarded race=proved divergence=proved
// expect: dynamic_too_small race=possible divergence=proved finding memory/out-of-bounds lines 44,44

// selvage: block=256 grid=4
__global__ void fits(float* out, const float* in) {
  __shared__ float s[256], t[256];
  s[threadIdx.x] = in[threadIdx.x], t[threadIdx.x] = out[blockIdx.x * blockDim.x + threadIdx.x];
  __syncthreads();
  out[blockIdx.x * blockDim.x + threadIdx.x] = s[255 - threadIdx.x] + t[threadIdx.x];
}

// selvage: block=512 grid=4
__global__ void block_too_large(float* out, const float* in) {
  __shared__ float s[256], t[256]; s[threadIdx.x] = in[threadIdx.x];
  t[threadIdx.x] = out[blockIdx.x * blockDim.x + threadIdx.x];
  out[blockIdx.x * blockDim.x + threadIdx.x] = s[threadIdx.x] + t[threadIdx.x];
}

// selvage: block=256 grid=4
__global__ void halo_forgotten(float* out, const float* in) {
  __shared__ float s[256];
  s[threadIdx.x] = in[blockIdx.x * blockDim.x + threadIdx.x], __syncthreads();
  out[blockIdx.x * blockDim.x + threadIdx.x] = s[threadIdx.x] + s[threadIdx.x + 1];
}

// selvage: block=256 grid=4
__global__ void halo_guarded(float* out, const float* in) {
  __shared__ float s[257];
  s[threadIdx.x] = in[blockIdx.x * blockDim.x + threadIdx.x];
  if (threadIdx.x == 0) s[256] = in[(blockIdx.x + 1) * blockDim.x];
  __syncthreads();
  out[blockIdx.x * blockDim.x + threadIdx.x] = s[threadIdx.x] + s[threadIdx.x + 1];
}

extern __shared__ int d[];

// selvage: block=256 grid=4 shared=512
__global__ void dynamic_too_small(int* out) {
  __shared__ int s[64];
  if (threadIdx.x < 64) s[threadIdx.x] = out[threadIdx.x];
  d[threadIdx.x] = threadIdx.x;
  __syncthreads();
  if (threadIdx.x < 64) out[blockIdx.x * 64 + threadIdx.x + 64] = s[63 - threadIdx.x] + d[threadIdx.x];
}
