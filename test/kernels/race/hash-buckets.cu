// expect: shifted race=possible divergence=proved
// expect: remainder race=possible divergence=proved
// expect: random_bucket race=possible divergence=proved
//
// Hashes wrap around on purpose: that they do not is never assumed. A generator's steps use each value several times, so
// that the value as a text would have no end.

__global__ void shifted(int* a) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    a[(i * 1664525u + 1013904223u) >> 12] = i;
}

__global__ void remainder(int* a) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    a[i * 2654435761u % 1048576u] = i;
}

__device__ unsigned next(unsigned x) {
    x ^= x << 13;
    x ^= x >> 17;
    return x ^ x << 5;
}

// selvage: block=64 grid=1
__global__ void random_bucket(int* a, unsigned seed) {
    unsigned x = threadIdx.x + seed;
    x = next(next(next(next(next(next(next(next(x))))))));
    x = next(next(next(next(next(next(next(next(x))))))));
    a[x & 1023] = threadIdx.x;
}
