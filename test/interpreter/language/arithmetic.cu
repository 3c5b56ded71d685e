// run: vector_add block=128 grid=4 args(a=float32[500]:iota, b=float32[500]:iota, c=float32[500]:zeros, n=500) expect=clean
// run: grid_stride block=32 grid=4 args(x=float32[1000]:iota, y=float32[1000]:iota, n=1000, a=2.5) expect=clean
// run: wide_integers block=32 args(out=uint64[128]:zeros) expect=clean
// run: bit_operations block=32 args(in=uint32[32]:random(9), out=uint32[192]:zeros) expect=clean
// run: narrow_integers block=64 args(in=int8[64]:[-128,127,-1,0,5,-6,77], out=int32[64]:zeros) expect=clean
// run: conversions block=16 args(in=float32[16]:[0.5,-0.5,1.5,2.5,-2.5,3e9,-3e9,100.75,1e20], out=int32[64]:zeros) expect=clean
// run: square_roots block=32 args(in=float32[32]:iota, out=float32[64]:zeros) expect=clean
// run: doubles block=16 args(in=float64[16]:iota, out=float64[32]:zeros) expect=clean
// run: halves block=16 args(in=float32[16]:iota, out=float32[32]:zeros) expect=clean
//
// Arithmetic whose results are exact.
#include <cuda_fp16.h>

__global__ void vector_add(const float* a, const float* b, float* c, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) c[i] = a[i] + b[i];
}

__global__ void grid_stride(const float* x, float* y, int n, float a) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) y[i] = a * x[i] + y[i];
}

__global__ void wide_integers(unsigned long long* out) {
    const unsigned t = threadIdx.x;
    const unsigned long long wide = 0x123456789abcdefull * (t + 1);
    out[t] = wide * wide;
    out[32 + t] = wide / (3 * t + 1);
    out[64 + t] = wide >> (2 * t);
    out[96 + t] = __umul64hi(wide, wide);
}

__global__ void bit_operations(const unsigned* in, unsigned* out) {
    const int t = threadIdx.x;
    const unsigned v = in[t];
    out[t] = __popc(v);
    out[32 + t] = __clz(v);
    out[64 + t] = __brev(v);
    out[96 + t] = __ffs(v);
    out[128 + t] = __byte_perm(v, ~v, 0x3715);
    out[160 + t] = __funnelshift_l(v, ~v, t);
}

__global__ void narrow_integers(const signed char* in, int* out) {
    const int t = threadIdx.x;
    const signed char sum = (signed char)(in[t] + in[(t + 1) % 64]);
    const unsigned short product = (unsigned short)(in[t] * 517);
    out[t] = sum * 65536 + product;
}

__global__ void conversions(const float* in, int* out) {
    const int t = threadIdx.x;
    out[t] = __float2int_rn(in[t]);
    out[16 + t] = __float2int_rz(in[t]);
    out[32 + t] = __float2int_ru(in[t]);
    out[48 + t] = (int)__float2uint_rd(in[t]);
}

__global__ void square_roots(const float* in, float* out) {
    const int t = threadIdx.x;
    out[t] = sqrtf(in[t] * in[t]);
    out[32 + t] = fmaf(in[t], 3.0f, -1.0f) / 4.0f;
}

__global__ void doubles(const double* in, double* out) {
    const int t = threadIdx.x;
    out[t] = (in[t] + 1.0) / (in[t] + 3.0);
    out[16 + t] = sqrt(in[t]) + floor(in[t] / 4.0);
}

__global__ void halves(const float* in, float* out) {
    const int t = threadIdx.x;
    const __half h = __float2half(in[t] + 0.25f);
    out[t] = __half2float(__hadd(h, h));
    out[16 + t] = __half2float(__hmul(h, __float2half(0.1f)));
}
