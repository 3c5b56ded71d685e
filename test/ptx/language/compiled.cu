// Source of compiled-production.ptx and compiled-verification.ptx (nvcc 13.0, sm_80).
#include <cstdio>
#include <cooperative_groups.h>

struct Operation {
  __device__ virtual int apply(int value) const { return value; }
};
struct Scale : Operation {
  int factor;
  __device__ int apply(int value) const override { return value * factor; }
};

__device__ int table[4] = {1, -2, 3, 4};
__device__ int *cursor = &table[2];
__constant__ double weights[2] = {0.5, 2.0};

__device__ inline int clamp(int value, int limit) { return value > limit ? limit : value; }
__device__ inline int lookup(int index) { return table[clamp(index, 3)]; }
__device__ __noinline__ int wait_and_add(int *total, int value) {
  __syncthreads();
  return atomicAdd(total, value);
}

__global__ void __launch_bounds__(256, 2) select_case(const float4 *__restrict__ in, float4 *out, int mode, int n) {
  extern __shared__ float buffer[];
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  buffer[threadIdx.x] = in[i].x;
  cooperative_groups::this_thread_block().sync();
  switch (mode) {
    case 0: out[i].x = buffer[threadIdx.x ^ 1]; break;
    case 1: out[i].y = __shfl_xor_sync(~0u, buffer[threadIdx.x], 1); break;
    case 2: out[i].z = weights[lookup(i) & 1]; break;
    case 3: out[i] = in[i]; break;
    case 4: printf("%d\n", lookup(i)); break;
    default: out[i].w = wait_and_add(cursor, mode);
  }
  asm volatile("// selvage.assume %0;" ::"r"(mode));
}

template <class T>
__global__ void virtual_call(T *out, int choice) {
  Scale scale;
  scale.factor = choice;
  Operation plain;
  const Operation *operation = choice > 3 ? static_cast<const Operation *>(&scale) : &plain;
  for (int k = 0; k < choice; k++) out[k] = static_cast<T>(operation->apply(k));
}
template __global__ void virtual_call<double>(double *, int);
