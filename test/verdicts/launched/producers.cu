// expect: handOneBuffer race=proved divergence=proved
// expect: handOneBuffer silent
// expect: handOneBufferNoEmpty race=race divergence=possible
// expect: handOneBufferNoEmpty finding race/shared error on s lines 80,86
// expect: handOneBufferEarly race=race divergence=possible
// expect: handOneBufferEarly finding race/shared error on s lines 97,105
// expect: handOneBufferSyncs race=proved divergence=proved
// expect: handOneBufferSyncs silent
// expect: handOneBufferSyncsOnce race=race divergence=possible
// expect: handOneBufferSyncsOnce finding race/shared error on s lines 133,139
// expect: handTwoBuffers race=proved divergence=proved
// expect: handTwoBuffers silent
// expect: handOnce race=proved divergence=proved
// expect: handOnce silent
// expect: handOnceTooFew race=possible divergence=divergent
// open: handOnceTooFew possible: no run lets some of the warps that wait pass before the others
// expect: electedArrival race=proved divergence=proved
// expect: electedArrival silent
// open: electedArrival possible: an mbarrier at which one thread arrives for others
// expect: electedArrivalNoSync race=race divergence=possible
// expect: electedArrivalNoSync finding race/shared error on s lines 218,222
// expect: electedInLoop race=proved divergence=proved
// expect: electedInLoop silent
// open: electedInLoop possible: an mbarrier at which one thread arrives for others
// expect: electedInLoopNoEmpty race=race divergence=possible
// expect: electedInLoopNoEmpty finding race/shared error on s lines 259,266
// expect: electedOneThread race=proved divergence=proved
// expect: electedOneThread silent
// open: electedOneThread possible: an mbarrier at which one thread arrives for others
// expect: electedOneThreadNoWait race=race divergence=possible
// expect: electedOneThreadNoWait finding race/shared error on s lines 294,297
// expect: pipelineOfBlock race=proved divergence=proved
// expect: pipelineOfBlock silent
// open: pipelineOfBlock possible: the mbarriers of the stages are selected by a loop
// expect: pipelineOfBlockOnce race=proved divergence=proved
// expect: pipelineOfBlockOnce silent
// open: pipelineOfBlockOnce possible: the mbarriers of the stages are selected by a loop
// expect: pipelineOfBlockNoWait race=race divergence=possible
// expect: pipelineOfBlockNoWait finding race/shared error on s lines 344,346
// expect: pipelineOfBlockNoWait advice "Move the read on line 346 after the wait on line 347"
// expect: pipelineStores race=proved divergence=proved
// expect: pipelineStores silent
// open: pipelineStores possible: the mbarriers of the stages are selected by a loop
//
// Producers and consumers: barriers of some threads in loops, mbarriers at which one lane arrives, pipelines of a block.
#include <cooperative_groups.h>
#include <cuda/barrier>
#include <cuda/pipeline>

namespace cg = cooperative_groups;

__device__ void waitAt(int id, int n) { asm volatile("bar.sync %0, %1;" ::"r"(id), "r"(n) : "memory"); }
__device__ void arriveAt(int id, int n) { asm volatile("bar.arrive %0, %1;" ::"r"(id), "r"(n) : "memory"); }

// Two warps fill a buffer, two others read it. Barrier 1: it is free; barrier 2: it is full.
__global__ void handOneBuffer(int* out, const int* in, int n) {
  __shared__ int s[64];
  int t = threadIdx.x & 63;
  if (threadIdx.x < 64) {
    for (int i = 0; i < n; i++) {
      waitAt(1, 128);
      s[t] = in[i * 64 + t];
      arriveAt(2, 128);
    }
  } else {
    arriveAt(1, 128);
    for (int i = 0; i < n; i++) {
      waitAt(2, 128);
      out[i * 64 + t] = s[63 - t];
      if (i + 1 < n) arriveAt(1, 128);
    }
  }
}

__global__ void handOneBufferNoEmpty(int* out, const int* in, int n) {
  __shared__ int s[64];
  int t = threadIdx.x & 63;
  if (threadIdx.x < 64) {
    for (int i = 0; i < n; i++) {
      s[t] = in[i * 64 + t];
      arriveAt(2, 128);
    }
  } else {
    for (int i = 0; i < n; i++) {
      waitAt(2, 128);
      out[i * 64 + t] = s[63 - t];
    }
  }
}

__global__ void handOneBufferEarly(int* out, const int* in, int n) {
  __shared__ int s[64];
  int t = threadIdx.x & 63;
  if (threadIdx.x < 64) {
    for (int i = 0; i < n; i++) {
      waitAt(1, 128);
      s[t] = in[i * 64 + t];
      arriveAt(2, 128);
    }
  } else {
    arriveAt(1, 128);
    for (int i = 0; i < n; i++) {
      waitAt(2, 128);
      if (i + 1 < n) arriveAt(1, 128);
      out[i * 64 + t] = s[63 - t];
    }
  }
}

__global__ void handOneBufferSyncs(int* out, const int* in, int n) {
  __shared__ int s[64];
  int t = threadIdx.x & 63;
  if (threadIdx.x < 64) {
    for (int i = 0; i < n; i++) {
      s[t] = in[i * 64 + t];
      waitAt(1, 128);
      waitAt(2, 128);
    }
  } else {
    for (int i = 0; i < n; i++) {
      waitAt(1, 128);
      out[i * 64 + t] = s[63 - t];
      waitAt(2, 128);
    }
  }
}

__global__ void handOneBufferSyncsOnce(int* out, const int* in, int n) {
  __shared__ int s[64];
  int t = threadIdx.x & 63;
  if (threadIdx.x < 64) {
    for (int i = 0; i < n; i++) {
      s[t] = in[i * 64 + t];
      waitAt(1, 128);
    }
  } else {
    for (int i = 0; i < n; i++) {
      waitAt(1, 128);
      out[i * 64 + t] = s[63 - t];
    }
  }
}

__global__ void handTwoBuffers(int* out, const int* in, int n) {
  __shared__ int s[2][64];
  int t = threadIdx.x & 63;
  if (threadIdx.x < 64) {
    for (int i = 0; i < n; i++) {
      s[i & 1][t] = in[i * 64 + t];
      waitAt(1, 128);
    }
  } else {
    for (int i = 0; i < n; i++) {
      waitAt(1, 128);
      out[i * 64 + t] = s[i & 1][63 - t];
    }
  }
}

__global__ void handOnce(int* out, const int* in) {
  __shared__ int s[64];
  int t = threadIdx.x & 63;
  if (threadIdx.x < 64) {
    s[t] = in[t];
    arriveAt(1, 128);
  } else {
    waitAt(1, 128);
    out[t] = s[63 - t];
  }
}

__global__ void handOnceTooFew(int* out, const int* in) {
  __shared__ int s[64];
  int t = threadIdx.x & 63;
  if (threadIdx.x < 64) {
    s[t] = in[t];
    arriveAt(1, 96);
  } else {
    waitAt(1, 96);
    out[t] = s[63 - t];
  }
}

// One lane arrives at an mbarrier for its warp.
__device__ unsigned shared(void* p) { return (unsigned)__cvta_generic_to_shared(p); }
__device__ void setUp(unsigned b, int n) { asm volatile("mbarrier.init.shared.b64 [%0], %1;" ::"r"(b), "r"(n) : "memory"); }
__device__ void arrive(unsigned b) { asm volatile("{ .reg .b64 s; mbarrier.arrive.shared.b64 s, [%0]; }" ::"r"(b) : "memory"); }
__device__ void wait(unsigned b, unsigned parity) {
  asm volatile("{ .reg .pred p; L: mbarrier.test_wait.parity.shared.b64 p, [%0], %1; @!p bra L; }" ::"r"(b), "r"(parity) : "memory");
}

// Warp 0 writes; its lane 0 arrives for the warp. Warp 1 waits.
__global__ void electedArrival(int* out, const int* in) {
  __shared__ unsigned long long bar;
  __shared__ int s[32];
  unsigned b = shared(&bar);
  int t = threadIdx.x, lane = t & 31;
  if (t == 0) setUp(b, 1);
  __syncthreads();
  if (t < 32) {
    s[lane] = in[lane];
    __syncwarp();
    if (lane == 0) arrive(b);
  } else {
    wait(b, 0);
    out[lane] = s[31 - lane];
  }
}

__global__ void electedArrivalNoSync(int* out, const int* in) {
  __shared__ unsigned long long bar;
  __shared__ int s[32];
  unsigned b = shared(&bar);
  int t = threadIdx.x, lane = t & 31;
  if (t == 0) setUp(b, 1);
  __syncthreads();
  if (t < 32) {
    s[lane] = in[lane];
    if (lane == 0) arrive(b);
  } else {
    wait(b, 0);
    out[lane] = s[31 - lane];
  }
}

__global__ void electedInLoop(int* out, const int* in, int n) {
  __shared__ unsigned long long full, empty;
  __shared__ int s[32];
  unsigned f = shared(&full), e = shared(&empty);
  int t = threadIdx.x, lane = t & 31;
  if (t == 0) { setUp(f, 1); setUp(e, 1); }
  __syncthreads();
  if (t < 32) {
    for (int i = 0; i < n; i++) {
      if (i > 0) wait(e, (i - 1) & 1);
      s[lane] = in[i * 32 + lane];
      __syncwarp();
      if (lane == 0) arrive(f);
    }
  } else {
    for (int i = 0; i < n; i++) {
      wait(f, i & 1);
      out[i * 32 + lane] = s[31 - lane];
      __syncwarp();
      if (lane == 0) arrive(e);
    }
  }
}

__global__ void electedInLoopNoEmpty(int* out, const int* in, int n) {
  __shared__ unsigned long long full;
  __shared__ int s[32];
  unsigned f = shared(&full);
  int t = threadIdx.x, lane = t & 31;
  if (t == 0) { setUp(f, 1); }
  __syncthreads();
  if (t < 32) {
    for (int i = 0; i < n; i++) {
      s[lane] = in[i * 32 + lane];
      __syncwarp();
      if (lane == 0) arrive(f);
    }
  } else {
    for (int i = 0; i < n; i++) {
      wait(f, i & 1);
      out[i * 32 + lane] = s[31 - lane];
    }
  }
}

__global__ void electedOneThread(int* out, const int* in) {
  __shared__ unsigned long long bar;
  __shared__ int s;
  unsigned b = shared(&bar);
  int t = threadIdx.x;
  if (t == 0) setUp(b, 1);
  __syncthreads();
  if (t == 0) {
    s = in[0];
    arrive(b);
  }
  wait(b, 0);
  out[t] = s;
}

__global__ void electedOneThreadNoWait(int* out, const int* in) {
  __shared__ unsigned long long bar;
  __shared__ int s;
  unsigned b = shared(&bar);
  int t = threadIdx.x;
  if (t == 0) setUp(b, 1);
  __syncthreads();
  if (t == 0) {
    s = in[0];
    arrive(b);
  }
  out[t] = s;
}

// All threads are producers and consumers, one stage at a time, two stages.
__global__ void pipelineOfBlock(int* out, const int* in, int n) {
  __shared__ int s[2][64];
  __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, 2> state;
  auto block = cg::this_thread_block();
  auto pipe = cuda::make_pipeline(block, &state);
  int t = threadIdx.x;
  pipe.producer_acquire();
  cuda::memcpy_async(&s[0][t], &in[t], sizeof(int), pipe);
  pipe.producer_commit();
  for (int i = 1; i < n; i++) {
    pipe.producer_acquire();
    cuda::memcpy_async(&s[i & 1][t], &in[i * 64 + t], sizeof(int), pipe);
    pipe.producer_commit();
    pipe.consumer_wait();
    out[(i - 1) * 64 + t] = s[(i - 1) & 1][63 - t];
    pipe.consumer_release();
  }
  pipe.consumer_wait();
  out[(n - 1) * 64 + t] = s[(n - 1) & 1][63 - t];
  pipe.consumer_release();
}

__global__ void pipelineOfBlockOnce(int* out, const int* in) {
  __shared__ int s[64];
  __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, 1> state;
  auto block = cg::this_thread_block();
  auto pipe = cuda::make_pipeline(block, &state);
  int t = threadIdx.x;
  pipe.producer_acquire();
  cuda::memcpy_async(&s[t], &in[t], sizeof(int), pipe);
  pipe.producer_commit();
  pipe.consumer_wait();
  out[t] = s[63 - t];
  pipe.consumer_release();
}

__global__ void pipelineOfBlockNoWait(int* out, const int* in) {
  __shared__ int s[64];
  __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, 1> state;
  auto block = cg::this_thread_block();
  auto pipe = cuda::make_pipeline(block, &state);
  int t = threadIdx.x;
  pipe.producer_acquire();
  cuda::memcpy_async(&s[t], &in[t], sizeof(int), pipe);
  pipe.producer_commit();
  out[t] = s[63 - t];
  pipe.consumer_wait();
  pipe.consumer_release();
}

__global__ void pipelineStores(int* out, const int* in) {
  __shared__ int s[64];
  __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, 1> state;
  auto block = cg::this_thread_block();
  auto pipe = cuda::make_pipeline(block, &state);
  int t = threadIdx.x;
  pipe.producer_acquire();
  s[t] = in[t];
  pipe.producer_commit();
  pipe.consumer_wait();
  out[t] = s[63 - t];
  pipe.consumer_release();
}

void handOver(int* out, const int* in) {
  handOneBuffer<<<1, 128>>>(out, in, 5);
  handOneBufferNoEmpty<<<1, 128>>>(out, in, 5);
  handOneBufferEarly<<<1, 128>>>(out, in, 5);
  handOneBufferSyncs<<<1, 128>>>(out, in, 5);
  handOneBufferSyncsOnce<<<1, 128>>>(out, in, 5);
  handTwoBuffers<<<1, 128>>>(out, in, 5);
  handOnce<<<1, 128>>>(out, in);
  handOnceTooFew<<<1, 128>>>(out, in);
  electedArrival<<<1, 64>>>(out, in);
  electedArrivalNoSync<<<1, 64>>>(out, in);
  electedInLoop<<<1, 64>>>(out, in, 5);
  electedInLoopNoEmpty<<<1, 64>>>(out, in, 5);
  electedOneThread<<<1, 64>>>(out, in);
  electedOneThreadNoWait<<<1, 64>>>(out, in);
  pipelineOfBlock<<<1, 64>>>(out, in, 5);
  pipelineOfBlockOnce<<<1, 64>>>(out, in);
  pipelineOfBlockNoWait<<<1, 64>>>(out, in);
  pipelineStores<<<1, 64>>>(out, in);
}
