// expect: planes_of_tiles race=race divergence=proved
// expect: planes_of_tiles finding race/shared error on tile lines 15,19
// expect: pixels_by_rests race=possible divergence=proved
// expect: pixels_by_rests silent
//
// Numbers that are quotients of sizes, and rests that are written as differences.

// The number of planes is large enough for a second one, and nothing separates it from the first.
__global__ void planes_of_tiles(const float* in, float* out, int total, int w, int h) {
    __shared__ float tile[16][17];
    int x = blockIdx.x * 16 + threadIdx.x, y = blockIdx.y * 16 + threadIdx.y;
    int planes = total / (w * h);
    for (int p = 0; p < planes; p++) {
        if (x < w && y < h)
            tile[threadIdx.y][threadIdx.x] = in[(p * h + y) * w + x];
        __syncthreads();
        int tx = blockIdx.y * 16 + threadIdx.x, ty = blockIdx.x * 16 + threadIdx.y;
        if (ty < w && tx < h)
            out[(p * w + ty) * h + tx] = tile[threadIdx.x][threadIdx.y];
    }
}

// `i - i / n * n` is `i % n`: the pixel is below the sizes of the image, and images and rows nest.
__global__ void pixels_by_rests(float* out, const float* in, int n, int w, int h, int row, int image) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    int b = i / (w * h);
    int y = (i - b * w * h) / w;
    int x = i - b * w * h - y * w;
    out[b * image + y * row + x] = in[i];
}
