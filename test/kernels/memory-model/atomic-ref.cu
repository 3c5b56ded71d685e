// expect: flag race=proved divergence=proved
// expect: flag_of_fences race=proved divergence=proved
// expect: lock race=proved divergence=proved
// expect: counted race=proved divergence=proved
// expect: flag_relaxed race=race divergence=proved finding race/global lines 68,73
// expect: flag_of_the_block race=race divergence=proved finding race/global lines 81,86 finding race/global lines 82,84
// expect: lock_relaxed race=race divergence=proved finding race/global lines 96,96
//
// The same patterns as C++ writes them, with cuda::atomic_ref and its fences.
#include <cuda/atomic>

using Word = cuda::atomic_ref<int, cuda::thread_scope_device>;
using BlockWord = cuda::atomic_ref<int, cuda::thread_scope_block>;

// selvage: block=1 grid=2
__global__ void flag(int* word, int* data, int* out) {
    Word ready(*word);
    if (blockIdx.x == 0) {
        *data = 42;
        ready.store(1, cuda::memory_order_release);
    } else {
        while (ready.load(cuda::memory_order_acquire) == 0) {
        }
        *out = *data;
    }
}

// selvage: block=1 grid=2
__global__ void flag_of_fences(int* word, int* data, int* out) {
    Word ready(*word);
    if (blockIdx.x == 0) {
        *data = 42;
        cuda::atomic_thread_fence(cuda::memory_order_release, cuda::thread_scope_device);
        ready.store(1, cuda::memory_order_relaxed);
    } else {
        while (ready.load(cuda::memory_order_relaxed) == 0) {
        }
        cuda::atomic_thread_fence(cuda::memory_order_acquire, cuda::thread_scope_device);
        *out = *data;
    }
}

__global__ void lock(int* word, int* sum) {
    Word held(*word);
    int expected = 0;
    while (!held.compare_exchange_strong(expected, 1, cuda::memory_order_acquire, cuda::memory_order_relaxed))
        expected = 0;
    *sum += threadIdx.x;
    held.store(0, cuda::memory_order_release);
}

// selvage: block=1
__global__ void counted(int* word, int* part, int* total) {
    Word count(*word);
    part[blockIdx.x] = blockIdx.x;
    if (count.fetch_add(1, cuda::memory_order_acq_rel) == gridDim.x - 1) {
        int sum = 0;
        for (int b = 0; b < gridDim.x; ++b)
            sum += part[b];
        *total = sum;
    }
}

// selvage: block=1 grid=2
__global__ void flag_relaxed(int* word, int* data, int* out) {
    Word ready(*word);
    if (blockIdx.x == 0) {
        *data = 42;
        ready.store(1, cuda::memory_order_relaxed);
    } else {
        while (ready.load(cuda::memory_order_acquire) == 0) {
        }
        *out = *data;
    }
}

// selvage: block=1 grid=2
__global__ void flag_of_the_block(int* word, int* data, int* out) {
    BlockWord ready(*word);
    if (blockIdx.x == 0) {
        *data = 42;
        ready.store(1, cuda::memory_order_release);
    } else {
        while (ready.load(cuda::memory_order_acquire) == 0) {
        }
        *out = *data;
    }
}

// selvage: block=2 grid=2
__global__ void lock_relaxed(int* word, int* sum) {
    Word held(*word);
    int expected = 0;
    while (!held.compare_exchange_strong(expected, 1, cuda::memory_order_relaxed))
        expected = 0;
    *sum += threadIdx.x;
    held.store(0, cuda::memory_order_release);
}
