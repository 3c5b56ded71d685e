// expect: fill race=proved divergence=proved
// expect: fill_volume race=proved divergence=proved
// expect: tile_of_a_matrix race=proved divergence=proved
// expect: scale_rows race=proved divergence=proved
// expect: fill_unguarded race=race divergence=proved finding race/global lines 46,46
// expect: fill_by_height race=race divergence=proved finding race/global lines 54,54
// expect: fill_up_to_the_length race=race divergence=proved finding race/global lines 62,62
// expect: fill_with_border race=race divergence=proved finding race/global lines 71,71
//
// Matrices and volumes in one array, with extents that only the launch knows: elements of two rows are disjoint if
// the columns stay below the length of a row.

__global__ void fill(float* a, int width, int height) {
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < width && y < height)
        a[y * width + x] = x + y;
}

__global__ void fill_volume(float* a, int nx, int ny, int nz) {
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    int z = blockIdx.z * blockDim.z + threadIdx.z;
    if (x < nx && y < ny && z < nz)
        a[(z * ny + y) * nx + x] = x + y + z;
}

// selvage: block=32,8 assume(pitch >= 32 * gridDim.x)
__global__ void tile_of_a_matrix(const float* in, float* out, int pitch) {
    int x = blockIdx.x * 32 + threadIdx.x;
    int y = blockIdx.y * 8 + threadIdx.y;
    out[y * pitch + x] = 2.0f * in[y * pitch + x];
}

// Each block has separate rows, each thread separate columns.
__global__ void scale_rows(float* a, const float* factors, int width, int height) {
    for (int y = blockIdx.x; y < height; y += gridDim.x)
        for (int x = threadIdx.x; x < width; x += blockDim.x)
            a[y * width + x] *= factors[y];
}

// selvage: block=16,16 grid=2,2 arg(width=24)
__global__ void fill_unguarded(float* a, int width) {
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    a[y * width + x] = x + 2 * y;
}

// selvage: block=16,16 grid=2,2 arg(width=30) arg(height=20)
__global__ void fill_by_height(float* a, int width, int height) {
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < width && y < height)
        a[y * height + x] = x + 2 * y;
}

// selvage: block=16,16 grid=2,2 arg(width=20) arg(height=20)
__global__ void fill_up_to_the_length(float* a, int width, int height) {
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x <= width && y < height)
        a[y * width + x] = x + 2 * y;
}

// Column -1 of a row is the last column of the row before.
// selvage: block=16,16 grid=2,2 arg(width=20) arg(height=20)
__global__ void fill_with_border(float* a, int width, int height) {
    int x = blockIdx.x * blockDim.x + threadIdx.x - 1;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < width && y < height)
        a[(y + 1) * width + x] = x + 2 * y;
}
