// expect: stop_early race=race divergence=possible
// expect: stop_early finding race/global error on out lines 11,12
//
// The launch passes one array as both parameters: elements read through the one are written through the other, while
// they decide which threads reach the barrier.

#include <cuda_runtime.h>

__global__ void stop_early(const int* in, int* out) {
    int t = threadIdx.x;
    if (t == 40) out[0] = 0;
    if (in[0] != 0) {
        __syncthreads();
    }
    out[t + 1] = t;
}

void run(int* data) {
    stop_early<<<1, 64>>>(data, data);
}
