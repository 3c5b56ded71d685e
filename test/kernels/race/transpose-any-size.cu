// expect: transpose race=proved divergence=proved
// expect: transpose_by_tiles race=proved divergence=proved
// expect: transpose_square_blocks race=proved divergence=proved
// expect: mirror_tiles race=proved divergence=proved
// expect: wrong_pitch race=race divergence=proved finding race/global lines 65,65
// expect: one_sided_guard race=race divergence=proved finding race/global lines 73,73
//
// Transposes of matrices of any size, directly and by tiles in shared memory: rows become columns of another length.

__global__ void transpose(const float* in, float* out, int width, int height) {
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < width && y < height)
        out[x * height + y] = in[y * width + x];
}

// selvage: block=32,8
__global__ void transpose_by_tiles(const float* in, float* out, int width, int height) {
    __shared__ float tile[32][33];
    int x = blockIdx.x * 32 + threadIdx.x;
    int y = blockIdx.y * 32 + threadIdx.y;
    for (int k = 0; k < 32; k += 8)
        if (x < width && y + k < height)
            tile[threadIdx.y + k][threadIdx.x] = in[(y + k) * width + x];
    __syncthreads();
    x = blockIdx.y * 32 + threadIdx.x;
    y = blockIdx.x * 32 + threadIdx.y;
    for (int k = 0; k < 32; k += 8)
        if (x < height && y + k < width)
            out[(y + k) * height + x] = tile[threadIdx.x][threadIdx.y + k];
}

// Square blocks of any size up to 32.
// selvage: assume(blockDim.x == blockDim.y)
__global__ void transpose_square_blocks(const float* in, float* out, int n) {
    __shared__ float tile[32][33];
    int tx = threadIdx.x, ty = threadIdx.y;
    int x = blockIdx.x * blockDim.x + tx, y = blockIdx.y * blockDim.y + ty;
    if (x < n && y < n)
        tile[ty][tx] = in[y * n + x];
    __syncthreads();
    x = blockIdx.y * blockDim.y + tx;
    y = blockIdx.x * blockDim.x + ty;
    if (x < n && y < n)
        out[y * n + x] = tile[tx][ty];
}

// In place: each block swaps its tile with the one on the other side, which no other block touches.
// selvage: block=16,16 assume(n == 16 * gridDim.x)
__global__ void mirror_tiles(float* a, int n) {
    int x = blockIdx.x * 16 + threadIdx.x;
    int y = blockIdx.y * 16 + threadIdx.y;
    if (x < y && y < n) {
        float other = a[x * n + y];
        a[x * n + y] = a[y * n + x];
        a[y * n + x] = other;
    }
}

// selvage: block=16,16 grid=2,2 arg(width=32) arg(height=20)
__global__ void wrong_pitch(const float* in, float* out, int width, int height) {
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < width && y < height)
        out[x * height / 2 + y] = in[y * width + x];
}

// selvage: block=16,16 grid=2,2 arg(width=32) arg(height=20)
__global__ void one_sided_guard(const float* in, float* out, int width, int height) {
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < width)
        out[x * height + y] = in[y * width + x];
}
