// expect: fill race=proved divergence=proved
// expect: propagate race=race divergence=proved finding race/global lines 17,17

#include <cstddef>
#include <cstdint>

__global__ void fill(double* out, size_t n, double value) {
    size_t i = static_cast<size_t>(blockIdx.x) * blockDim.x + threadIdx.x;
    size_t stride = static_cast<size_t>(gridDim.x) * blockDim.x;
    for (; i < n; i += stride) out[i] = value;
}

// selvage: block=256 grid=4 arg(n=1024)
__global__ void propagate(int64_t* a, int64_t n) {
    int64_t i = static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
    if (i + 1 < n) {
        a[i + 1] = a[i];
    }
}
