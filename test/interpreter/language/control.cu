// run: switch_table block=32 args(out=int32[32]:zeros) expect=clean
// run: function_pointers block=32 args(in=int32[32]:iota, out=int32[32]:zeros) expect=clean
// run: nested_functions block=32 args(in=int32[32]:iota, out=int32[32]:zeros) expect=clean
// run: greatest_common_divisor block=64 args(out=int32[64]:zeros) expect=clean
// run: collatz_lengths block=32 args(out=int32[32]:zeros) expect=clean
// run: prints block=4 args(out=int32[4]:zeros) expect=clean
// run: template_sum block=16 args(out=int32[32]:zeros) expect=clean
// run: short_circuit block=32 args(in=int32[20]:iota, out=int32[32]:zeros, n=20) expect=clean
// run: exits_at_different_times block=32 args(out=int32[32]:zeros) expect=clean
//
// Branches, calls and loops whose course differs by thread.
#include <cstdio>

__global__ void switch_table(int* out) {
    const int t = threadIdx.x;
    int v = 0;
    switch (t % 9) {
        case 0: v = 7; break;
        case 1: v = t * t; break;
        case 2: v = -t; // falls through
        case 3: v += 100; break;
        case 4: v = 1 << (t / 4); break;
        case 5: out[t] = 55; return;
        case 7: v = t ^ 0x55; break;
        default: v = 9;
    }
    out[t] = v;
}

typedef int (*Operation)(int);
__device__ int twice(int v) { return 2 * v; }
__device__ int square(int v) { return v * v; }
__device__ int negate(int v) { return -v; }
__device__ Operation operations[3] = {twice, square, negate};

__global__ void function_pointers(const int* in, int* out) {
    const int t = threadIdx.x;
    out[t] = operations[t % 3](in[t]);
}

__device__ __noinline__ int clamp_to(int v, int low, int high) { return v < low ? low : v > high ? high : v; }
__device__ __noinline__ int folded(int v) { return clamp_to(v, 4, 20) + clamp_to(2 * v, 10, 30); }

__global__ void nested_functions(const int* in, int* out) { out[threadIdx.x] = folded(in[threadIdx.x]); }

__global__ void greatest_common_divisor(int* out) {
    int a = 360, b = threadIdx.x;
    while (b != 0) {
        const int rest = a % b;
        a = b;
        b = rest;
    }
    out[threadIdx.x] = a;
}

__global__ void collatz_lengths(int* out) {
    unsigned v = threadIdx.x + 1;
    int steps = 0;
    while (v != 1) {
        v = (v & 1) ? 3 * v + 1 : v / 2;
        steps++;
    }
    out[threadIdx.x] = steps;
}

__global__ void prints(int* out) {
    const int t = threadIdx.x;
    printf("thread %d of %d\n", t, blockDim.x);
    out[t] = t + 1;
}

template <int Count, typename Value>
__device__ Value sum_of(Value first) {
    Value sum = 0;
    for (int k = 0; k < Count; k++) sum += first + k;
    return sum;
}

__global__ void template_sum(int* out) {
    out[threadIdx.x] = sum_of<5>((int)threadIdx.x);
    out[16 + threadIdx.x] = (int)sum_of<3>(0.5f * threadIdx.x);
}

__global__ void short_circuit(const int* in, int* out, int n) {
    const int t = threadIdx.x;
    if (t < n && in[t] % 2 == 0) out[t] = 1;
    if (t >= n || in[t] % 3 == 0) out[t] += 2;
}

__global__ void exits_at_different_times(int* out) {
    const int t = threadIdx.x;
    for (int k = 0; k < 100; k++) {
        out[t] += k;
        if (k == t) return;
    }
}
