// expect: grown race=proved divergence=proved
// expect: grown precondition "width * height * batch >= n"
// expect: grown precondition "width >= 1"
// expect: grown precondition "height >= 1"
// expect: grown silent
// expect: grown_twice race=race divergence=proved
// expect: grown_twice finding race/global error on out lines 49
// expect: own_matrix race=proved divergence=proved
// expect: own_matrix silent
// expect: own_matrix precondition "rows >= 1"
// expect: own_matrix_short race=race divergence=proved
// expect: own_matrix_short finding race/global error on a lines 65
// expect: tiles_of_columns race=proved divergence=proved
// expect: tiles_of_columns silent
// expect: tiles_of_four race=proved divergence=proved
// expect: tiles_of_four silent
// expect: permuted race=proved divergence=proved
// expect: permuted silent
// expect: permuted precondition "size >= 1"
// expect: permuted precondition "layers >= 1"
// expect: lost_digits race=race divergence=proved
// expect: lost_digits finding race/global error on out lines 111
//
// A flat number below the product of its divisors, a block that fills its own matrix, and tiles of columns.

// The number has a separate bound, which is the product in all callers.
__global__ void grown(int n, int width, int height, int batch, const float* in, float* out) {
    int rest = blockIdx.x * blockDim.x + threadIdx.x;
    if (rest >= n)
        return;
    const float value = in[rest];
    int column = rest % width;
    rest /= width;
    int row = rest % height;
    rest /= height;
    out[column + width * (row + height * (rest % batch))] = value;
}

// Two rows are one.
__global__ void grown_twice(int n, int width, int height, int batch, const float* in, float* out) {
    int rest = blockIdx.x * blockDim.x + threadIdx.x;
    if (rest >= n)
        return;
    const float value = in[rest];
    int column = rest % width;
    rest /= width;
    int row = rest % height;
    rest /= height;
    out[column + width * (row / 2 + height * (rest % batch))] = value;
}

__global__ void own_matrix(float* a, int rows, int columns) {
    for (int i = threadIdx.x; i < rows * columns; i += blockDim.x)
        a[blockIdx.x * rows * columns + i] = i;
}
void fill(float* a, int rows, int columns, int count) {
    own_matrix<<<count, 128>>>(a, rows, columns);
}

// One element of the next matrix is written, too.
// selvage: block=64 grid=3 arg(rows=5) arg(columns=7)
__global__ void own_matrix_short(float* a, int rows, int columns) {
    for (int i = threadIdx.x; i <= rows * columns; i += blockDim.x)
        // Another value than that of the next block.
        a[blockIdx.x * rows * columns + i] = i + 1;
}

__global__ void tiles_of_columns(float* out, const float* in, int rows, int columns) {
    int column = (blockIdx.x << 5) + threadIdx.x, row = (blockIdx.y << 5) + threadIdx.y;
    if (column < columns && row < rows) {
        int at = (column & ~31) * rows + (row << 5) + (column & 31);
        out[at] = in[at] + 1.0f;
    }
}

__global__ void tiles_of_four(float4* out, const float4* in, int rows, int columns) {
    int column = (blockIdx.x << 5) + (threadIdx.x << 2), row = (blockIdx.y << 5) + threadIdx.y;
    if (column < columns && row < rows) {
        int at = ((column & ~31) * rows + (row << 5) + (column & 31)) >> 2;
        out[at] = in[at];
    }
}
void tile(float* out, const float* in, int rows, int columns) {
    dim3 grid((columns + 31) / 32, (rows + 31) / 32);
    tiles_of_columns<<<grid, dim3(32, 32)>>>(out, in, rows, columns);
    tiles_of_four<<<grid, dim3(8, 32)>>>((float4*)out, (const float4*)in, rows, columns);
}

// The host program bounds the number by the product; the kernel does not read all of its factors.
__global__ void permuted(int n, const float* in, int size, int layers, int images, float* out) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    int at = i % size, layer = i / size % layers, image = i / size / layers;
    out[image * layers * size + at * layers + layer] = in[i];
}
void permute(const float* in, int size, int layers, int images, float* out) {
    int n = size * layers * images;
    permuted<<<(n + 255) / 256, 256>>>(n, in, size, layers, images, out);
}

// The index is what the divisions left of it: all elements of a channel are one.
__global__ void lost_digits(float* out, int width, int height, int channels, int mode) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int x = i % width;
    i /= width;
    int y = i % height;
    i /= height;
    int channel = i % channels;
    if (mode == 1 && channel == 0)
        out[i] = 0.5f * x / width + y;
}
