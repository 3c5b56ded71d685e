// expect: differentiate race=race divergence=proved
// expect: differentiate finding race/global error on image lines 10
// expect: differentiate launch backward.cu:14 block=64 grid=32 args n=2048
// expect: differentiate launch backward.cu:14 excludes blockDim.x=16,gridDim.x=4
#include "passes.h"

__global__ void differentiate(float* image, int n, float scale) {
    int i = blockIdx.x * 32 + threadIdx.x;
    if (i < n)
        image[i] *= scale;
}

void backward::render(dim3 grid, dim3 block, float* image, int n, float scale) {
    differentiate<<<grid, block>>>(image, n, scale);
}
