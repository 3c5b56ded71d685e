// expect: threshold race=proved divergence=proved
//
// Stores to neighbouring bytes do not touch each other, even inside one word.

__global__ void threshold(const unsigned char* image, unsigned char* mask, int n, int level) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) mask[i] = image[i] > level ? 255 : 0;
}
