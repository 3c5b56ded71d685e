// expect: gatherRows race=proved divergence=proved
// expect: gatherRows silent
// expect: gatherInPlace race=race divergence=proved
// expect: gatherInPlace finding race/global warning on x lines 38
// expect: scatterRows race=possible divergence=proved
// expect: scatterRows finding race/global notice on out lines 44
// expect: scatterRows silent
// expect: scatterAdd race=race divergence=proved
// expect: scatterAdd finding race/global warning on out lines 50
// expect: scatterAddAtomic race=proved divergence=proved
// expect: scatterAddAtomic silent
// expect: lastOfKey race=race divergence=proved
// expect: lastOfKey finding race/global error on last lines 61
// expect: markKeys race=proved divergence=proved
// expect: markKeys assumes equal-value-writes
// expect: markKeys silent
// expect: findRare race=possible divergence=proved
// expect: findRare finding race/global notice on found lines 73
// expect: findRare silent
// expect: findPositive race=race divergence=proved
// expect: findPositive finding race/global error on found lines 79
// expect: anyPositive race=proved divergence=proved
// expect: anyPositive assumes equal-value-writes
// expect: anyPositive silent
// expect: firstPositive race=race divergence=proved
// expect: firstPositive finding race/global error on anyFound lines 92
//
// Addresses, values and paths that depend on the contents of arrays.

__global__ void gatherRows(float* out, const float* in, const int* index) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  out[i] = in[index[i]];
}

// Another thread may already have replaced the element. `index[i] == i` would hide it.
__global__ void gatherInPlace(float* x, const int* index) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  x[i] = 2 * x[index[i]];
}

// Correct for a permutation, which no code here excludes.
__global__ void scatterRows(float* out, const float* in, const int* permutation) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  out[permutation[i]] = in[i];
}

// An addition suggests that `target` is not a permutation: several elements may have one target.
__global__ void scatterAdd(float* out, const float* in, const int* target) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  out[target[i]] += in[i];
}

__global__ void scatterAddAtomic(float* out, const float* in, const int* target) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  atomicAdd(&out[target[i]], in[i]);
}

// 4096 threads, 256 keys: two threads have the same key, for any contents of the array.
__global__ void lastOfKey(int* last, const unsigned char* key) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  last[key[i]] = i;
}

// The same with one literal, which all threads store and none reads.
__global__ void markKeys(int* present, const unsigned char* key) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  present[key[i]] = 1;
}

// Two threads store only if two elements are 42.
__global__ void findRare(int* found, const int* in) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (in[i] == 42) found[0] = i;
}

// Half of all elements are positive.
__global__ void findPositive(int* found, const int* in) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (in[i] > 0) found[0] = i;
}

__global__ void anyPositive(int* found, const int* in) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (in[i] > 0) found[0] = 1;
}

// One literal, and threads that read it while others store it.
__device__ int anyFound = 0;

__global__ void firstPositive(const int* in) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (anyFound == 0 && in[i] > 0) anyFound = 1;
}

void launchScatters(float* out, int* found, const float* in, const int* index, const unsigned char* key) {
  gatherRows<<<16, 256>>>(out, in, index);
  gatherInPlace<<<16, 256>>>(out, index);
  scatterRows<<<16, 256>>>(out, in, index);
  scatterAdd<<<16, 256>>>(out, in, index);
  scatterAddAtomic<<<16, 256>>>(out, in, index);
  lastOfKey<<<16, 256>>>(found, key);
  markKeys<<<16, 256>>>(found, key);
  findRare<<<16, 256>>>(found, index);
  findPositive<<<16, 256>>>(found, index);
  anyPositive<<<16, 256>>>(found, index);
  firstPositive<<<16, 256>>>(index);
}
