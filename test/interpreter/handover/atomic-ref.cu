// run: ref_release_acquire block=32 grid=2 args(data=int32[1]:zeros, flag=int32[1]:zeros, out=int32[1]:zeros) seeds=3 expect=clean
// run: ref_relaxed_store block=32 grid=2 args(data=int32[1]:zeros, flag=int32[1]:zeros, out=int32[1]:zeros) seeds=3 expect=race lines 30,34 space global
// run: ref_relaxed_load block=32 grid=2 args(data=int32[1]:zeros, flag=int32[1]:zeros, out=int32[1]:zeros) seeds=3 expect=race lines 42,46 space global
// run: ref_block_scope block=32 grid=2 args(data=int32[1]:zeros, flag=int32[1]:zeros, out=int32[1]:zeros) seeds=3 expect=race lines 54,58 lines 55,57 space global
// run: ref_counted block=16 grid=3 args(data=int32[32]:zeros, arrived=int32[1]:zeros, out=int32[16]:zeros) seeds=3 expect=clean
// run: ref_counted_relaxed block=16 grid=3 args(data=int32[32]:zeros, arrived=int32[1]:zeros, out=int32[16]:zeros) seeds=3 expect=race lines 79,83 space global
//
// Release and acquire by cuda::atomic_ref, at the scope that includes both threads and at one that does not.
#include <cuda/atomic>

using Device = cuda::atomic_ref<int, cuda::thread_scope_device>;
using Block = cuda::atomic_ref<int, cuda::thread_scope_block>;

__global__ void ref_release_acquire(int* data, int* flag, int* out) {
    if (threadIdx.x != 0) return;
    Device ready(*flag);
    if (blockIdx.x == 0) {
        *data = 42;
        ready.store(1, cuda::memory_order_release);
    } else {
        while (ready.load(cuda::memory_order_acquire) == 0) {}
        *out = *data;
    }
}

__global__ void ref_relaxed_store(int* data, int* flag, int* out) {
    if (threadIdx.x != 0) return;
    Device ready(*flag);
    if (blockIdx.x == 0) {
        *data = 42;
        ready.store(1, cuda::memory_order_relaxed);
    } else {
        while (ready.load(cuda::memory_order_acquire) == 0) {}
        *out = *data;
    }
}

__global__ void ref_relaxed_load(int* data, int* flag, int* out) {
    if (threadIdx.x != 0) return;
    Device ready(*flag);
    if (blockIdx.x == 0) {
        *data = 42;
        ready.store(1, cuda::memory_order_release);
    } else {
        while (ready.load(cuda::memory_order_relaxed) == 0) {}
        *out = *data;
    }
}

__global__ void ref_block_scope(int* data, int* flag, int* out) {
    if (threadIdx.x != 0) return;
    Block ready(*flag);
    if (blockIdx.x == 0) {
        *data = 42;
        ready.store(1, cuda::memory_order_release);
    } else {
        while (ready.load(cuda::memory_order_acquire) == 0) {}
        *out = *data;
    }
}

// The last arrival's read sees a chain of read-modify-writes: all that arrived before are ordered too.
__global__ void ref_counted(int* data, int* arrived, int* out) {
    const int t = threadIdx.x;
    Device count(*arrived);
    if (blockIdx.x < 2) {
        data[blockIdx.x * 16 + t] = t + 1;
        count.fetch_add(1, cuda::memory_order_release);
    } else {
        while (count.load(cuda::memory_order_acquire) < 32) {}
        out[t] = data[t] + data[16 + t];
    }
}

__global__ void ref_counted_relaxed(int* data, int* arrived, int* out) {
    const int t = threadIdx.x;
    Device count(*arrived);
    if (blockIdx.x < 2) {
        data[blockIdx.x * 16 + t] = t + 1;
        count.fetch_add(1, cuda::memory_order_relaxed);
    } else {
        while (count.load(cuda::memory_order_acquire) < 32) {}
        out[t] = data[t] + data[16 + t];
    }
}
