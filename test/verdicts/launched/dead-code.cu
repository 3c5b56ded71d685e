// expect: sumSteps<32> race=proved divergence=proved
// expect: sumSteps<32> silent
// expect: sumSteps<128> race=proved divergence=proved
// expect: sumSteps<128> silent
// expect: sumStepsRacing<32> race=proved divergence=proved
// expect: sumStepsRacing<32> silent
// expect: sumStepsRacing<128> race=race divergence=proved
// expect: sumStepsRacing<128> finding race/shared error on parts lines 34,35
//
// Instances whose loops no launch enters: the compiler removes the barriers in them from the production build.

template <int Size>
__global__ void sumSteps(float* out, const float* in) {
  __shared__ float parts[Size];
  int i = threadIdx.x;
  parts[i] = in[blockIdx.x * Size + i];
  __syncthreads();
  for (int step = Size / 2; step > 32; step >>= 1) {
    if (i < step) parts[i] += parts[i + step];
    __syncthreads();
  }
  out[blockIdx.x * Size + i] = parts[i];
}

template <int Size>
__global__ void sumStepsRacing(float* out, const float* in) {
  __shared__ float parts[Size];
  int i = threadIdx.x;
  parts[i] = in[blockIdx.x * Size + i];
  __syncthreads();
  for (int step = Size / 2; step > 32; step >>= 1) {
    float next = 0;
    __syncthreads();
    if (i < step) next = parts[i + step / 2];
    parts[i] += next;
  }
  out[blockIdx.x * Size + i] = parts[i];
}

void launchSteps(float* out, const float* in) {
  sumSteps<32><<<16, 32>>>(out, in);
  sumSteps<128><<<16, 128>>>(out, in);
  sumStepsRacing<32><<<16, 32>>>(out, in);
  sumStepsRacing<128><<<16, 128>>>(out, in);
}
