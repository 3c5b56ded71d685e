// expect: phasesOfBlock race=proved divergence=proved
// expect: phasesOfBlock silent
// expect: phaseMissing race=race divergence=proved
// expect: phaseMissing finding race/shared error on s lines 44,45
// expect: phaseMissing advice "Arrive and wait at the barrier once more between the two accesses, as on line 43, or add `__syncthreads()` there" as in phasesOfBlock
// expect: phaseOfHalf race=race divergence=possible
// expect: phaseOfHalf finding race/shared error on s lines 56,58
// expect: phaseOfHalf advice "Initialise the barrier on line 54 with 128" as in phasesOfBlock
// expect: readBeforeWait race=race divergence=proved
// expect: readBeforeWait finding race/shared error on s lines 67,69
// expect: readBeforeWait advice "Move the access on line 69 after the wait on line 70" as in phasesOfBlock
// expect: writeAfterArrival race=race divergence=proved
// expect: writeAfterArrival finding race/shared error on s lines 80,82
// expect: writeAfterArrival advice "Move the access on line 80 before the arrival on line 79" as in phasesOfBlock
//
// Barriers in shared memory, whose waits read a timer: phases of the whole block, and slips.
#include <cuda/barrier>

using Barrier = cuda::barrier<cuda::thread_scope_block>;

__global__ void phasesOfBlock(int* out, const int* in) {
  __shared__ Barrier bar;
  __shared__ int s[128];
  int t = threadIdx.x, i = blockIdx.x * 128 + t;
  if (t == 0) init(&bar, blockDim.x);
  __syncthreads();
  s[t] = in[i];
  bar.arrive_and_wait();
  int v = s[127 - t];
  bar.arrive_and_wait();
  s[t] = v;
  bar.arrive_and_wait();
  out[i] = s[(t + 1) % 128];
}

__global__ void phaseMissing(int* out, const int* in) {
  __shared__ Barrier bar;
  __shared__ int s[128];
  int t = threadIdx.x, i = blockIdx.x * 128 + t;
  if (t == 0) init(&bar, blockDim.x);
  __syncthreads();
  s[t] = in[i];
  bar.arrive_and_wait();
  int v = s[127 - t];
  s[t] = v;
  bar.arrive_and_wait();
  out[i] = s[(t + 1) % 128];
}

__global__ void phaseOfHalf(int* out, const int* in) {
  __shared__ Barrier bar;
  __shared__ int s[128];
  int t = threadIdx.x, i = blockIdx.x * 128 + t;
  if (t == 0) init(&bar, blockDim.x / 2);
  __syncthreads();
  s[t] = in[i];
  bar.arrive_and_wait();
  out[i] = s[127 - t];
}

__global__ void readBeforeWait(int* out, const int* in) {
  __shared__ Barrier bar;
  __shared__ int s[128];
  int t = threadIdx.x, i = blockIdx.x * 128 + t;
  if (t == 0) init(&bar, blockDim.x);
  __syncthreads();
  s[t] = in[i];
  auto token = bar.arrive();
  out[i] = s[127 - t];
  bar.wait(std::move(token));
}

__global__ void writeAfterArrival(int* out, const int* in) {
  __shared__ Barrier bar;
  __shared__ int s[128];
  int t = threadIdx.x, i = blockIdx.x * 128 + t;
  if (t == 0) init(&bar, blockDim.x);
  __syncthreads();
  auto token = bar.arrive();
  s[t] = in[i];
  bar.wait(std::move(token));
  out[i] = s[127 - t];
}

void phases(int* out, const int* in) {
  phasesOfBlock<<<4, 128>>>(out, in);
  phaseMissing<<<4, 128>>>(out, in);
  phaseOfHalf<<<4, 128>>>(out, in);
  readBeforeWait<<<4, 128>>>(out, in);
  writeAfterArrival<<<4, 128>>>(out, in);
}
