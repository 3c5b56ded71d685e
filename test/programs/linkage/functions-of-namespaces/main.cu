#include "passes.h"

int main() {
    float* image;
    cudaMalloc(&image, 2048 * sizeof(float));
    forward::render(dim3(4, 2), dim3(16, 16), image, 2048);
    backward::render(32, 64, image, 2048, 0.5f);
    return cudaDeviceSynchronize();
}
