// run: int_operations block=64 grid=2 args(v=uint32[10]:[1000,0,4294967295,0,0,0,4294967295,0,7,100], n=64) seeds=3 expect=clean
// run: wide_operations block=32 grid=2 args(v=uint64[4]:[0,0,18446744073709551615,5]) seeds=3 expect=clean
// run: float_add block=64 grid=2 args(f=float32[1]:zeros, d=float64[1]:zeros) seeds=3 expect=clean
// run: short_compare_and_swap block=32 grid=2 args(v=uint16[2]:zeros) seeds=3 expect=clean
//
// Every atomic operation at device scope; the values do not depend on the order.

__global__ void int_operations(unsigned* v, int n) {
    const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    atomicSub(&v[0], 2u);
    atomicMax(&v[1], (i * 37) % 101);
    atomicMin(&v[2], 5 + (i * 37) % 101);
    atomicOr(&v[3], 1u << (i % 20));
    atomicXor(&v[4], i);
    atomicInc(&v[5], 9);
    atomicAnd(&v[6], ~(1u << (i % 8)));
    atomicMax((int*)&v[7], n - (int)i);
    atomicCAS(&v[8], 7u, 11u);
    atomicDec(&v[9], 100u);
}

__global__ void wide_operations(unsigned long long* v) {
    const unsigned long long i = blockIdx.x * blockDim.x + threadIdx.x;
    atomicAdd(&v[0], i << 32);
    atomicMax(&v[1], i << 33);
    atomicAnd(&v[2], ~(1ull << (i % 64)));
    atomicCAS(&v[3], 5ull, 1ull << 40);
}

__global__ void float_add(float* f, double* d) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    atomicAdd(f, 0.5f * i);
    atomicAdd(d, 0.25 * i);
}

__global__ void short_compare_and_swap(unsigned short* v) {
    unsigned short* mine = &v[threadIdx.x & 1];
    unsigned short seen = 0;
    for (;;) {
        const unsigned short found = atomicCAS(mine, seen, (unsigned short)(seen + 3));
        if (found == seen) break;
        seen = found;
    }
}
