// expect: shade race=proved divergence=proved
// expect: shade launch forward.cu:13 block=16,16 grid=4,2 args n=2048
#include "passes.h"

__global__ void shade(float* image, int n) {
    int i = (blockIdx.y * gridDim.x + blockIdx.x) * 256 + threadIdx.y * 16 + threadIdx.x;
    if (i < n)
        image[i] *= 2.0f;
}

// Another file has a function of this name in another namespace.
void forward::render(dim3 grid, dim3 block, float* image, int n) {
    shade<<<grid, block>>>(image, n);
}
