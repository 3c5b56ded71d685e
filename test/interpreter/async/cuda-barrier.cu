// run: barrier_object block=64 args(out=int32[64]:zeros) expect=clean
// run: barrier_object_drop_one block=64 args(out=int32[64]:zeros) expect=clean
// run: barrier_object_arrive_only block=64 args(out=int32[64]:zeros) expect=race lines 50,52 space shared; uninitialised line 52
//
// cuda::barrier of block scope.
#include <cuda/barrier>

using Barrier = cuda::barrier<cuda::thread_scope_block>;

__global__ void barrier_object(int* out) {
    __shared__ alignas(Barrier) char storage[sizeof(Barrier)];
    __shared__ int s[64];
    Barrier* bar = reinterpret_cast<Barrier*>(storage);
    const int t = threadIdx.x;
    if (t == 0) init(bar, 64);
    __syncthreads();
    s[t] = 3 * t;
    bar->arrive_and_wait();
    out[t] = s[63 - t];
}

// The upper warp leaves after its first arrival; the phases after it are the lower warp's own.
__global__ void barrier_object_drop_one(int* out) {
    __shared__ alignas(Barrier) char storage[sizeof(Barrier)];
    __shared__ int s[64];
    Barrier* bar = reinterpret_cast<Barrier*>(storage);
    const int t = threadIdx.x;
    if (t == 0) init(bar, 64);
    __syncthreads();
    s[t] = 3 * t;
    if (t >= 32) {
        bar->arrive_and_drop();
        return;
    }
    bar->arrive_and_wait();
    const int mine = s[63 - t];
    bar->arrive_and_wait();
    s[t] = mine;
    bar->arrive_and_wait();
    out[t] = s[31 - t];
}

__global__ void barrier_object_arrive_only(int* out) {
    __shared__ alignas(Barrier) char storage[sizeof(Barrier)];
    __shared__ int s[64];
    Barrier* bar = reinterpret_cast<Barrier*>(storage);
    const int t = threadIdx.x;
    if (t == 0) init(bar, 64);
    __syncthreads();
    s[t] = 3 * t;
    (void)bar->arrive();
    out[t] = s[63 - t];
}
