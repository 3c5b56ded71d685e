// options: --arch sm_90
// expect: countCluster race=race divergence=proved
// expect: countCluster finding race/global error on count lines 26
// expect: countInCluster race=proved divergence=proved
// expect: countInCluster silent
// expect: countAcrossClusters race=race divergence=proved
// expect: countAcrossClusters finding race/global error on count lines 26
// expect: maximumStrong race=proved divergence=proved
// expect: maximumStrong silent
// expect: maximumBlockScope race=race divergence=proved
// expect: maximumBlockScope finding race/global error on most lines 48,49
// expect: maximumPlain race=race divergence=proved
// expect: maximumPlain finding race/global error on most lines 54
// expect: drainQueue race=proved divergence=proved
// expect: drainQueue silent
// expect: resetQueue race=race divergence=proved
// expect: resetQueue finding race/global error on queue lines 68,69
// expect: waitUnlessSet race=possible divergence=divergent
// expect: waitUnlessSet finding barrier/divergent error lines 78
//
// Atomics, and loads and stores as strong as they: their scopes have to reach each other.

#include <cuda/atomic>

__device__ void addInCluster(unsigned* p) {
  asm volatile("red.relaxed.cluster.global.add.u32 [%0], 1;" ::"l"(p) : "memory");
}

// Launched without clusters, where each block is the only one of its cluster.
__global__ void countCluster(unsigned* count) { addInCluster(count); }

// A counter for each cluster of two blocks.
__global__ void __cluster_dims__(2, 1, 1) countInCluster(unsigned* counts) { addInCluster(&counts[blockIdx.x / 2]); }

// One counter for all of them.
__global__ void __cluster_dims__(2, 1, 1) countAcrossClusters(unsigned* count) { addInCluster(count); }

// Whether a thread takes part depends on a load that other threads' atomics may change.
__global__ void maximumStrong(int* most, const int* in) {
  int x = in[blockIdx.x * blockDim.x + threadIdx.x], seen;
  asm volatile("ld.relaxed.gpu.global.s32 %0, [%1];" : "=r"(seen) : "l"(most) : "memory");
  if (seen < x) atomicMax(most, x);
}

// The load is strong for the threads of the block only.
__global__ void maximumBlockScope(int* most, const int* in) {
  int x = in[blockIdx.x * blockDim.x + threadIdx.x], seen;
  asm volatile("ld.relaxed.cta.global.s32 %0, [%1];" : "=r"(seen) : "l"(most) : "memory");
  if (seen < x) atomicMax(most, x);
}

__global__ void maximumPlain(int* most, const int* in) {
  int x = in[blockIdx.x * blockDim.x + threadIdx.x];
  if (most[0] < x) atomicMax(most, x);
}

using Counter = cuda::atomic_ref<int, cuda::thread_scope_device>;

__global__ void drainQueue(int* out, int* queue, const int* in, int n) {
  Counter next(queue[0]);
  if (next.load(cuda::memory_order_relaxed) >= n) next.store(0, cuda::memory_order_relaxed);
  int i = next.fetch_add(1, cuda::memory_order_relaxed);
  if (i < n) atomicAdd(&out[blockIdx.x], in[i]);
}

// The queue is put back to its start by a plain store.
__global__ void resetQueue(int* out, int* queue, const int* in, int n) {
  if (threadIdx.x == 0) queue[0] = 0;
  int i = Counter(queue[0]).fetch_add(1, cuda::memory_order_relaxed);
  if (i < n) atomicAdd(&out[blockIdx.x], in[i]);
}

// No race, but threads may read different values, and only some of them come to the barrier.
__global__ void waitUnlessSet(int* out, int* flag) {
  int seen;
  if (threadIdx.x == 0) atomicExch(flag, 1);
  asm volatile("ld.relaxed.gpu.global.s32 %0, [%1];" : "=r"(seen) : "l"(flag) : "memory");
  if (seen == 0) __syncthreads();
  out[blockIdx.x * blockDim.x + threadIdx.x] = seen;
}

void launchAtomics(unsigned* count, int* out, int* most, const int* in) {
  countCluster<<<8, 64>>>(count);
  countInCluster<<<8, 64>>>(count);
  countAcrossClusters<<<8, 64>>>(count);
  maximumStrong<<<8, 64>>>(most, in);
  maximumBlockScope<<<8, 64>>>(most, in);
  maximumPlain<<<8, 64>>>(most, in);
  drainQueue<<<8, 64>>>(out, most, in, 1000);
  resetQueue<<<8, 64>>>(out, most, in, 1000);
  waitUnlessSet<<<8, 64>>>(out, most);
}
