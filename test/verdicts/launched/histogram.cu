// expect: histogramShared race=proved divergence=proved
// expect: histogramShared silent
// expect: histogramZeroLate race=race divergence=proved
// expect: histogramZeroLate finding race/shared error on bins lines 31,32
// expect: histogramZeroLateNarrow race=race divergence=proved
// expect: histogramZeroLateNarrow finding race/shared error on bins lines 40,41
// expect: histogramPlain race=race divergence=proved
// expect: histogramPlain finding race/shared error on bins lines 51
// expect: histogramPlainNarrow race=race divergence=proved
// expect: histogramPlainNarrow finding race/shared warning on bins lines 62
// expect: histogramOwn race=proved divergence=proved
// expect: histogramOwn silent
// expect: histogramOwnKeys race=proved divergence=proved
// expect: histogramOwnKeys assumes contents
// expect: histogramOwnKeys silent
//
// Counts of bytes. The address of a count depends on the data.

__global__ void histogramShared(unsigned* counts, const unsigned char* data, int n) {
  __shared__ unsigned bins[256];
  for (int b = threadIdx.x; b < 256; b += blockDim.x) bins[b] = 0;
  __syncthreads();
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) atomicAdd(&bins[data[i]], 1);
  __syncthreads();
  for (int b = threadIdx.x; b < 256; b += blockDim.x) atomicAdd(&counts[b], bins[b]);
}

// 512 threads: those above 255 clear no bin themselves, so any bin they count in is cleared by another thread.
__global__ void histogramZeroLate(unsigned* counts, const unsigned char* data) {
  __shared__ unsigned bins[256];
  if (threadIdx.x < 256) bins[threadIdx.x] = 0;
  atomicAdd(&bins[data[blockIdx.x * blockDim.x + threadIdx.x]], 1);
  __syncthreads();
  if (threadIdx.x < 256) atomicAdd(&counts[threadIdx.x], bins[threadIdx.x]);
}

// 256 threads: each may find a byte equal to its index.
__global__ void histogramZeroLateNarrow(unsigned* counts, const unsigned char* data) {
  __shared__ unsigned bins[256];
  bins[threadIdx.x] = 0;
  atomicAdd(&bins[data[blockIdx.x * blockDim.x + threadIdx.x]], 1);
  __syncthreads();
  atomicAdd(&counts[threadIdx.x], bins[threadIdx.x]);
}

// No atomic, and 512 threads for 256 bins: two threads count in one bin, for any data.
__global__ void histogramPlain(unsigned* counts, const unsigned char* data) {
  __shared__ unsigned bins[256];
  if (threadIdx.x < 256) bins[threadIdx.x] = 0;
  __syncthreads();
  bins[data[blockIdx.x * blockDim.x + threadIdx.x]]++;
  __syncthreads();
  if (threadIdx.x < 256) atomicAdd(&counts[threadIdx.x], bins[threadIdx.x]);
}

// The same with 128 threads, whose bytes may all differ.
__global__ void histogramPlainNarrow(unsigned* counts, const unsigned char* data) {
  __shared__ unsigned bins[256];
  bins[threadIdx.x] = 0;
  bins[threadIdx.x + 128] = 0;
  __syncthreads();
  bins[data[blockIdx.x * blockDim.x + threadIdx.x]]++;
  __syncthreads();
  atomicAdd(&counts[threadIdx.x], bins[threadIdx.x]);
  atomicAdd(&counts[threadIdx.x + 128], bins[threadIdx.x + 128]);
}

// Each thread counts in 256 separate bins.
__global__ void histogramOwn(unsigned* counts, const unsigned char* data, int each) {
  int t = blockIdx.x * blockDim.x + threadIdx.x;
  for (int i = 0; i < each; i++) counts[t * 256 + data[t * each + i]]++;
}

// Keys of any type, which the kernel trusts to be below the number of its bins.
__global__ void histogramOwnKeys(unsigned* counts, const int* keys, int bins, int each) {
  int t = blockIdx.x * blockDim.x + threadIdx.x;
  for (int i = 0; i < each; i++) counts[t * bins + keys[t * each + i]]++;
}

void launchHistograms(unsigned* counts, const unsigned char* data, const int* keys) {
  histogramShared<<<16, 256>>>(counts, data, 100000);
  histogramZeroLate<<<16, 512>>>(counts, data);
  histogramZeroLateNarrow<<<16, 256>>>(counts, data);
  histogramPlain<<<16, 512>>>(counts, data);
  histogramPlainNarrow<<<16, 128>>>(counts, data);
  histogramOwn<<<4, 64>>>(counts, data, 10);
  histogramOwnKeys<<<4, 64>>>(counts, keys, 100, 10);
}
