// expect: step race=race divergence=proved
// expect: step finding race/shared error on s lines 9,11
// expect: step launch second.cu:15 block=128 grid=16

namespace {
__global__ void step(float* out, const float* in) {
  __shared__ float s[128];
  int t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
  s[t] = in[i];
  __syncwarp();
  out[i] = s[blockDim.x - 1 - t];
}
}  // namespace

void second(float* out, const float* in) { step<<<16, 128>>>(out, in); }
