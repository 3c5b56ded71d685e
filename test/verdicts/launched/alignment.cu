// expect: scaleRows race=proved divergence=proved
// expect: scaleRows silent
// expect: scaleRowsPadded race=possible divergence=proved
// expect: scaleRowsPadded finding memory/misaligned error on in lines 36
// expect: stageRows race=proved divergence=proved
// expect: stageRows silent
// expect: stageRowsPadded race=possible divergence=proved
// expect: stageRowsPadded finding memory/misaligned error on rows lines 55
// expect: sumKeys race=proved divergence=proved
// expect: sumKeys silent
// expect: sumKeysUnrounded race=possible divergence=proved
// expect: sumKeysUnrounded finding memory/misaligned error on memory lines 83
// expect: addPairs race=proved divergence=proved
// expect: addPairs silent
// expect: addNextPairs race=possible divergence=proved
// expect: addNextPairs finding memory/misaligned error on in lines 98
// expect: copyNext race=proved divergence=proved
// expect: copyNext silent
// expect: copyNextFromStart race=possible divergence=proved
// expect: copyNextFromStart finding memory/misaligned error on in lines 111
//
// Vectors, copies of 16 bytes and wider types at addresses that launches determine.

#include <cuda_fp16.h>
#include <cuda_pipeline.h>
#include <cuda_runtime.h>

// Four floats of a row of 128: each row starts at a multiple of 512 bytes.
__global__ void scaleRows(float* out, const float* in, int pitch) {
  const float4 x = *reinterpret_cast<const float4*>(in + blockIdx.x * pitch + 4 * threadIdx.x);
  *reinterpret_cast<float4*>(out + blockIdx.x * pitch + 4 * threadIdx.x) = make_float4(2 * x.x, 2 * x.y, 2 * x.z, 2 * x.w);
}

// A row of 130 floats: every second row starts 8 bytes after a multiple of 16.
__global__ void scaleRowsPadded(float* out, const float* in, int pitch) {
  const float4 x = *reinterpret_cast<const float4*>(in + blockIdx.x * pitch + 4 * threadIdx.x);
  out[blockIdx.x * 32 + threadIdx.x] = x.x + x.y + x.z + x.w;
}

// Rows of 36 floats: 144 bytes.
__global__ void stageRows(float* out, const float* in) {
  __shared__ __align__(16) float rows[16 * 36];
  const int row = threadIdx.x / 8, part = threadIdx.x % 8;
  __pipeline_memcpy_async(&rows[row * 36 + 4 * part], &in[128 * blockIdx.x * 4 + 32 * row + 4 * part], 16);
  __pipeline_commit();
  __pipeline_wait_prior(0);
  __syncthreads();
  out[blockIdx.x * 128 + threadIdx.x] = rows[(15 - row) * 36 + part];
}

// Rows of 33 floats, so that columns are in different banks: a copy of 16 bytes needs a multiple of 16.
__global__ void stageRowsPadded(float* out, const float* in) {
  __shared__ __align__(16) float rows[16 * 33];
  const int row = threadIdx.x / 8, part = threadIdx.x % 8;
  __pipeline_memcpy_async(&rows[row * 33 + 4 * part], &in[128 * blockIdx.x * 4 + 32 * row + 4 * part], 16);
  __pipeline_commit();
  __pipeline_wait_prior(0);
  __syncthreads();
  out[blockIdx.x * 128 + threadIdx.x] = rows[(15 - row) * 33 + part];
}

// After the keys, at the next multiple of 8, are sums.
__global__ void sumKeys(double* out, const int* in, int keys) {
  extern __shared__ __align__(16) unsigned char memory[];
  int* own = reinterpret_cast<int*>(memory);
  double* sums = reinterpret_cast<double*>(memory + (4 * keys + 7) / 8 * 8);
  const int t = threadIdx.x;
  if (t < keys) own[t] = in[t];
  __syncthreads();
  sums[t] = own[t % keys];
  __syncthreads();
  out[t] = sums[63 - t];
}

// The sums start after 33 keys of 4 bytes.
__global__ void sumKeysUnrounded(double* out, const int* in, int keys) {
  extern __shared__ __align__(16) unsigned char memory[];
  int* own = reinterpret_cast<int*>(memory);
  double* sums = reinterpret_cast<double*>(memory + 4 * keys);
  const int t = threadIdx.x;
  if (t < keys) own[t] = in[t];
  __syncthreads();
  sums[t] = own[t % keys];
  __syncthreads();
  out[t] = sums[63 - t];
}

// Two halves at an even index.
__global__ void addPairs(float* out, const __half* in) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  const __half2 pair = *reinterpret_cast<const __half2*>(in + 2 * i);
  out[i] = __low2float(pair) + __high2float(pair);
}

// Two halves at an odd index.
__global__ void addNextPairs(float* out, const __half* in) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  const __half2 pair = *reinterpret_cast<const __half2*>(in + 2 * i + 1);
  out[i] = __low2float(pair) + __high2float(pair);
}

// The launch passes a pointer to the fourth element, so that the next one is at 16 bytes.
__global__ void copyNext(float4* out, const float* in) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  out[i] = *reinterpret_cast<const float4*>(in + 4 * i + 1);
}

// The launch passes the start of the array.
__global__ void copyNextFromStart(float4* out, const float* in) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  out[i] = *reinterpret_cast<const float4*>(in + 4 * i + 1);
}

int main() {
  float *in, *out;
  double* sums;
  int* keys;
  __half* halves;
  cudaMalloc(&in, 1 << 20);
  cudaMalloc(&out, 1 << 20);
  cudaMalloc(&sums, 64 * sizeof(double));
  cudaMalloc(&keys, 1 << 10);
  cudaMalloc(&halves, 1 << 16);
  scaleRows<<<64, 32>>>(out, in, 128);
  scaleRowsPadded<<<64, 32>>>(out, in, 130);
  stageRows<<<8, 128>>>(out, in);
  stageRowsPadded<<<8, 128>>>(out, in);
  sumKeys<<<1, 64, 1024>>>(sums, keys, 33);
  sumKeysUnrounded<<<1, 64, 1024>>>(sums, keys, 33);
  addPairs<<<16, 256>>>(out, halves);
  addNextPairs<<<16, 256>>>(out, halves);
  copyNext<<<4, 256>>>(reinterpret_cast<float4*>(out), in + 3);
  copyNextFromStart<<<4, 256>>>(reinterpret_cast<float4*>(out), in);
  return cudaDeviceSynchronize();
}
