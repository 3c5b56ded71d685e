// run: object_fences block=32 grid=2 args(data=int32[1]:zeros, out=int32[1]:zeros) seeds=3 expect=clean
// run: object_sequential block=32 grid=2 args(data=int32[1]:zeros, out=int32[1]:zeros) seeds=3 expect=clean
// run: object_in_block block=64 args(out=int32[32]:zeros) seeds=3 expect=clean
// run: object_in_block_relaxed block=64 args(out=int32[32]:zeros) seeds=3 expect=race lines 59,63 space shared
//
// cuda::atomic objects: relaxed with explicit fences, sequentially consistent, and of block scope within a block.
#include <cuda/atomic>

__device__ cuda::atomic<int, cuda::thread_scope_device> flag;

__global__ void object_fences(int* data, int* out) {
    if (threadIdx.x != 0) return;
    if (blockIdx.x == 0) {
        *data = 5;
        cuda::atomic_thread_fence(cuda::memory_order_release, cuda::thread_scope_device);
        flag.store(1, cuda::memory_order_relaxed);
    } else {
        while (flag.load(cuda::memory_order_relaxed) == 0) {}
        cuda::atomic_thread_fence(cuda::memory_order_acquire, cuda::thread_scope_device);
        *out = *data;
    }
}

__global__ void object_sequential(int* data, int* out) {
    if (threadIdx.x != 0) return;
    if (blockIdx.x == 0) {
        *data = 5;
        flag = 1;
    } else {
        while (flag == 0) {}
        *out = *data;
    }
}

__global__ void object_in_block(int* out) {
    __shared__ int data[32];
    __shared__ int word;
    cuda::atomic_ref<int, cuda::thread_scope_block> arrived(word);
    const int lane = threadIdx.x & 31;
    if (threadIdx.x == 0) word = 0;
    __syncthreads();
    if (threadIdx.x < 32) {
        data[lane] = lane + 100;
        arrived.fetch_add(1, cuda::memory_order_release);
    } else {
        while (arrived.load(cuda::memory_order_acquire) < 32) {}
        out[lane] = data[31 - lane];
    }
}

__global__ void object_in_block_relaxed(int* out) {
    __shared__ int data[32];
    __shared__ int word;
    cuda::atomic_ref<int, cuda::thread_scope_block> arrived(word);
    const int lane = threadIdx.x & 31;
    if (threadIdx.x == 0) word = 0;
    __syncthreads();
    if (threadIdx.x < 32) {
        data[lane] = lane + 100;
        arrived.fetch_add(1, cuda::memory_order_relaxed);
    } else {
        while (arrived.load(cuda::memory_order_relaxed) < 32) {}
        out[lane] = data[31 - lane];
    }
}
