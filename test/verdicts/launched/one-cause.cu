// expect: twentyPairs race=proved divergence=proved
// expect: twentyPairs silent
// expect: twentyPairsNoBarrier race=race divergence=proved
// expect: twentyPairsNoBarrier finding race/shared error on s lines 34,35,36,37,38,39,40,41,42
// expect: twoBarriersMissing race=race divergence=proved
// expect: twoBarriersMissing finding race/shared error on s lines 49,50
// expect: twoBarriersMissing finding race/shared error on s lines 50,51
// expect: twoArrays race=race divergence=proved
// expect: twoArrays finding race/shared error on s lines 59,61
// expect: twoArrays finding race/shared error on u lines 60,62
//
// One missing barrier is one finding, however many accesses it leaves unordered; two barriers or two arrays are two.

__global__ void twentyPairs(float* out, const float* in) {
  __shared__ float s[1024];
  int t = threadIdx.x;
  s[4 * t] = in[4 * t];
  s[4 * t + 1] = in[4 * t + 1];
  s[4 * t + 2] = in[4 * t + 2];
  s[4 * t + 3] = in[4 * t + 3];
  __syncthreads();
  float sum = s[(t + 100) % 1024];
  sum += s[(t + 200) % 1024];
  sum += s[(t + 300) % 1024];
  sum += s[(t + 400) % 1024];
  sum += s[(t + 500) % 1024];
  out[t] = sum;
}

// Each of the four stores races with each of the five loads.
__global__ void twentyPairsNoBarrier(float* out, const float* in) {
  __shared__ float s[1024];
  int t = threadIdx.x;
  s[4 * t] = in[4 * t];
  s[4 * t + 1] = in[4 * t + 1];
  s[4 * t + 2] = in[4 * t + 2];
  s[4 * t + 3] = in[4 * t + 3];
  float sum = s[(t + 100) % 1024];
  sum += s[(t + 200) % 1024];
  sum += s[(t + 300) % 1024];
  sum += s[(t + 400) % 1024];
  sum += s[(t + 500) % 1024];
  out[t] = sum;
}

__global__ void twoBarriersMissing(float* out, const float* in) {
  __shared__ float s[256];
  int t = threadIdx.x;
  s[t] = in[t];
  float other = s[255 - t];
  s[t] = other * 2;
  __syncthreads();
  out[t] = s[255 - t];
}

__global__ void twoArrays(float* out, const float* in) {
  __shared__ float s[256], u[256];
  int t = threadIdx.x;
  s[t] = in[t];
  u[t] = in[t] * 2;
  float other = s[255 - t];
  out[t] = other + u[255 - t];
}

void launchOneCause(float* out, const float* in) {
  twentyPairs<<<1, 256>>>(out, in);
  twentyPairsNoBarrier<<<1, 256>>>(out, in);
  twoBarriersMissing<<<1, 256>>>(out, in);
  twoArrays<<<1, 256>>>(out, in);
}
