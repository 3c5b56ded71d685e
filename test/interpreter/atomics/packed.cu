// arch: sm_90
// run: add_half_pairs block=64 grid=2 args(out=float16[2]:zeros) seeds=3 expect=clean
// run: add_vectors block=64 grid=2 args(out=float32[4]:zeros) seeds=3 expect=clean
// run: add_vectors_and_read block=64 grid=2 args(out=float32[4]:zeros, seen=float32[128]:zeros) seeds=3 expect=race lines 16,17 space global
// run: swap_wide_pair block=32 args(out=uint64[2]:zeros) seeds=3 expect=clean
//
// Atomics on several numbers at once, as of sm_90.
#include <cuda_fp16.h>

__global__ void add_half_pairs(__half2* out) { atomicAdd(out, __floats2half2_rn(1.0f, 0.5f)); }

__global__ void add_vectors(float4* out) { atomicAdd(out, make_float4(1, 2, 3, threadIdx.x)); }

__global__ void add_vectors_and_read(float4* out, float* seen) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    atomicAdd(out, make_float4(1, 2, 3, 4));
    seen[i] = ((float*)out)[2];
}

__global__ void swap_wide_pair(unsigned long long* out) {
    const unsigned long long t = threadIdx.x;
    unsigned long long seen = 0;
    for (;;) {
        const unsigned long long found = atomicCAS(&out[t & 1], seen, seen + (t << 40));
        if (found == seen) break;
        seen = found;
    }
}
