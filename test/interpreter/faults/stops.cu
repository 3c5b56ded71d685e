// run: trap_on_negative block=32 args(in=int32[32]:[1,2,-3], out=int32[32]:zeros) expect=trap line 12
// run: trap_not_reached block=32 args(in=int32[32]:iota, out=int32[32]:zeros) expect=clean
// run: assert_fails block=32 args(in=int32[32]:[1,2,-3], out=int32[32]:zeros) expect=trap line 22
// run: assert_holds block=32 args(in=int32[32]:iota, out=int32[32]:zeros) expect=clean
// run: waits_for_nobody block=32 args(flag=int32[1]:zeros, out=int32[32]:zeros) expect=budget
// run: loop_without_end block=32 args(out=int32[32]:zeros) expect=budget
//
// Kernels that stop themselves, and kernels that never end.
#include <cassert>

__global__ void trap_on_negative(const int* in, int* out) {
    if (in[threadIdx.x] < 0) __trap();
    out[threadIdx.x] = 2 * in[threadIdx.x];
}

__global__ void trap_not_reached(const int* in, int* out) {
    if (in[threadIdx.x] < 0) __trap();
    out[threadIdx.x] = 2 * in[threadIdx.x];
}

__global__ void assert_fails(const int* in, int* out) {
    assert(in[threadIdx.x] >= 0);
    out[threadIdx.x] = 2 * in[threadIdx.x];
}

__global__ void assert_holds(const int* in, int* out) {
    assert(in[threadIdx.x] >= 0);
    out[threadIdx.x] = 2 * in[threadIdx.x];
}

__global__ void waits_for_nobody(volatile int* flag, int* out) {
    while (*flag == 0) {}
    out[threadIdx.x] = 1;
}

__global__ void loop_without_end(int* out) {
    volatile int* counter = &out[threadIdx.x];
    for (;;) *counter = *counter ^ 1;
}
