// expect: step race=proved divergence=proved
// expect: step silent
// expect: step launch first.cu:15 block=32 grid=16

namespace {
__global__ void step(float* out, const float* in) {
  __shared__ float s[128];
  int t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
  s[t] = in[i];
  __syncwarp();
  out[i] = s[blockDim.x - 1 - t];
}
}  // namespace

void first(float* out, const float* in) { step<<<16, 32>>>(out, in); }

