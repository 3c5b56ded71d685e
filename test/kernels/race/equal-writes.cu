// expect: found race=proved divergence=proved
// expect: found_and_read race=possible divergence=proved
// expect: all_lanes race=proved divergence=proved finding race/shared lines 28,28
// expect: half_of_the_warp race=race divergence=proved finding race/shared lines 38,38
// expect: one_slot_for_two_warps race=race divergence=proved finding race/shared lines 48,48
// expect: by_column race=race divergence=proved finding race/global lines 56,56

#define EVERY 0xffffffffu

// selvage: block=128 grid=8 arg(key=1)
__global__ void found(const int* a, int* hit, int key) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (a[i] == key) *hit = 1;
}

// selvage: block=128 grid=8 arg(key=1)
__global__ void found_and_read(const int* a, int* hit, int* out, int key) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (a[i] == key) *hit = 1;
  out[i] = *hit;
}

// selvage: block=128 grid=8
__global__ void all_lanes(float* out, const float* in) {
  __shared__ float s[4];
  float v = in[threadIdx.x];
  for (int mask = 16; mask; mask >>= 1) v = fmaxf(v, __shfl_xor_sync(EVERY, v, mask));
  s[threadIdx.x / 32] = v;
  __syncthreads();
  if (threadIdx.x < 4) out[blockIdx.x * 4 + threadIdx.x] = s[threadIdx.x];
}

// selvage: block=128 grid=8
__global__ void half_of_the_warp(float* out, const float* in) {
  __shared__ float s[4];
  float v = in[threadIdx.x];
  for (int mask = 8; mask; mask >>= 1) v += __shfl_xor_sync(EVERY, v, mask);
  s[threadIdx.x / 32] = v;
  __syncthreads();
  if (threadIdx.x < 4) out[blockIdx.x * 4 + threadIdx.x] = s[threadIdx.x];
}

// selvage: block=128 grid=8
__global__ void one_slot_for_two_warps(float* out, const float* in) {
  __shared__ float s[2];
  float v = in[threadIdx.x];
  for (int mask = 16; mask; mask >>= 1) v += __shfl_xor_sync(EVERY, v, mask);
  s[threadIdx.x / 64] = v;
  __syncthreads();
  if (threadIdx.x < 2) out[blockIdx.x * 2 + threadIdx.x] = s[threadIdx.x];
}

// selvage: block=64 grid=8 arg(n=4096)
__global__ void by_column(int n, const float* scores, const int* degree, float* out) {
  for (int node = blockIdx.x; node < n; node += gridDim.x)
    out[node] = scores[node] / degree[node];
}
