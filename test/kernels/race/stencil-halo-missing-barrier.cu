// expect: stencil race=race divergence=proved finding race/shared lines 12,20 finding race/shared lines 14,20 finding race/shared lines 15,20

#define RADIUS 3
#define BLOCK 128

// selvage: block=128 grid=8
__global__ void __launch_bounds__(BLOCK) stencil(const int* in, int* out) {
    __shared__ int temp[BLOCK + 2 * RADIUS];
    int g = threadIdx.x + blockIdx.x * blockDim.x + RADIUS;
    int l = threadIdx.x + RADIUS;

    temp[l] = in[g];
    if (threadIdx.x < RADIUS) {
        temp[l - RADIUS] = in[g - RADIUS];
        temp[l + BLOCK] = in[g + BLOCK];
    }

    int result = 0;
    for (int offset = -RADIUS; offset <= RADIUS; offset++) {
        result += temp[l + offset];
    }
    out[g] = result;
}
