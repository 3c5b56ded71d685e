// expect: softmaxRows race=proved divergence=proved
// expect: softmaxRows silent
// expect: softmaxMaximumReused race=race divergence=proved
// expect: softmaxMaximumReused finding race/shared error on s lines 60,62
// expect: softmaxBarrierInRound race=possible divergence=divergent
// expect: softmaxBarrierInRound finding barrier/divergent error lines 77
// expect: crossEntropy race=proved divergence=proved
// expect: crossEntropy silent
// expect: crossEntropyTotal race=race divergence=proved
// expect: crossEntropyTotal finding race/global error on total lines 101
// expect: crossEntropyGradient race=race divergence=proved
// expect: crossEntropyGradient finding race/global warning on grad lines 108,109
//
// One block for each row of 1000 columns: softmax, and the loss and gradient of the cross entropy.

__device__ float blockMaximum(float v, float* s) {
  s[threadIdx.x] = v;
  __syncthreads();
  for (int d = blockDim.x / 2; d > 0; d /= 2) {
    if (threadIdx.x < d) s[threadIdx.x] = fmaxf(s[threadIdx.x], s[threadIdx.x + d]);
    __syncthreads();
  }
  return s[0];
}

__device__ float blockSum(float v, float* s) {
  __syncthreads();
  s[threadIdx.x] = v;
  __syncthreads();
  for (int d = blockDim.x / 2; d > 0; d /= 2) {
    if (threadIdx.x < d) s[threadIdx.x] += s[threadIdx.x + d];
    __syncthreads();
  }
  return s[0];
}

__global__ void softmaxRows(float* out, const float* in, int cols) {
  __shared__ float s[256];
  const float* x = in + blockIdx.x * cols;
  float most = -INFINITY, sum = 0;
  for (int c = threadIdx.x; c < cols; c += blockDim.x) most = fmaxf(most, x[c]);
  most = blockMaximum(most, s);
  for (int c = threadIdx.x; c < cols; c += blockDim.x) sum += expf(x[c] - most);
  sum = blockSum(sum, s);
  for (int c = threadIdx.x; c < cols; c += blockDim.x) out[blockIdx.x * cols + c] = expf(x[c] - most) / sum;
}

// No barrier prevents thread 0 from storing its sum before the others have read the maximum.
__global__ void softmaxMaximumReused(float* out, const float* in, int cols) {
  __shared__ float s[256];
  const float* x = in + blockIdx.x * cols;
  float most = -INFINITY, sum = 0;
  for (int c = threadIdx.x; c < cols; c += blockDim.x) most = fmaxf(most, x[c]);
  s[threadIdx.x] = most;
  __syncthreads();
  for (int d = blockDim.x / 2; d > 0; d /= 2) {
    if (threadIdx.x < d) s[threadIdx.x] = fmaxf(s[threadIdx.x], s[threadIdx.x + d]);
    __syncthreads();
  }
  most = s[0];
  for (int c = threadIdx.x; c < cols; c += blockDim.x) sum += expf(x[c] - most);
  s[threadIdx.x] = sum;
  __syncthreads();
  for (int d = blockDim.x / 2; d > 0; d /= 2) {
    if (threadIdx.x < d) s[threadIdx.x] += s[threadIdx.x + d];
    __syncthreads();
  }
  for (int c = threadIdx.x; c < cols; c += blockDim.x) out[blockIdx.x * cols + c] = expf(x[c] - most) / s[0];
}

// The fourth iteration has 1000 - 3 * 256 columns: 24 threads exit the loop and miss its barrier.
__global__ void softmaxBarrierInRound(float* out, const float* in, int cols) {
  __shared__ float s[256];
  float sum = 0;
  for (int c = threadIdx.x; c < cols; c += blockDim.x) {
    s[threadIdx.x] = expf(in[blockIdx.x * cols + c]);
    __syncthreads();
    sum += s[threadIdx.x];
  }
  out[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}

__global__ void crossEntropy(float* loss, const float* logits, const int* target, int cols) {
  __shared__ float s[256];
  const float* x = logits + blockIdx.x * cols;
  float most = -INFINITY, sum = 0;
  for (int c = threadIdx.x; c < cols; c += blockDim.x) most = fmaxf(most, x[c]);
  most = blockMaximum(most, s);
  for (int c = threadIdx.x; c < cols; c += blockDim.x) sum += expf(x[c] - most);
  sum = blockSum(sum, s);
  if (threadIdx.x == 0) loss[blockIdx.x] = logf(sum) + most - x[target[blockIdx.x]];
}

// Every block adds to one total without an atomic.
__global__ void crossEntropyTotal(float* total, const float* logits, const int* target, int cols) {
  __shared__ float s[256];
  const float* x = logits + blockIdx.x * cols;
  float sum = 0;
  for (int c = threadIdx.x; c < cols; c += blockDim.x) sum += expf(x[c]);
  sum = blockSum(sum, s);
  if (threadIdx.x == 0) total[0] += logf(sum) - x[target[blockIdx.x]];
}

// The thread that owns the column of the target may store its probability after thread 0 has subtracted. Targets that
// are multiples of 256 would hide it.
__global__ void crossEntropyGradient(float* grad, const float* probability, const int* target, int cols) {
  float* g = grad + blockIdx.x * cols;
  for (int c = threadIdx.x; c < cols; c += blockDim.x) g[c] = probability[blockIdx.x * cols + c];
  if (threadIdx.x == 0) g[target[blockIdx.x]] -= 1;
}

void launchSoftmax(float* out, float* grad, const float* in, const int* target) {
  softmaxRows<<<64, 256>>>(out, in, 1000);
  softmaxMaximumReused<<<64, 256>>>(out, in, 1000);
  softmaxBarrierInRound<<<64, 256>>>(out, in, 1000);
  crossEntropy<<<64, 256>>>(out, in, target, 1000);
  crossEntropyTotal<<<64, 256>>>(out, in, target, 1000);
  crossEntropyGradient<<<64, 256>>>(grad, in, target, 1000);
}
