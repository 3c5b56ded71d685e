// expect: heads_first race=proved divergence=proved
// expect: heads_first precondition "tokens >= 1"
// expect: heads_first precondition "heads >= 1"
// expect: heads_first precondition "size >= 1"
// expect: heads_first silent
// expect: heads_first_short race=race divergence=proved
// expect: heads_first_short finding race/global error on out lines 66
// expect: three_of_each race=proved divergence=proved
// expect: three_of_each silent
// expect: three_in_two race=race divergence=proved
// expect: three_in_two finding race/global error on all lines 100,102
// expect: planes_last race=proved divergence=proved
// expect: planes_last silent
// expect: planes_unbounded race=possible divergence=proved
// expect: planes_unbounded silent
// expect: pairs_of_columns race=race divergence=proved
// expect: pairs_of_columns finding race/global error on out lines 129,130
// expect: pooled race=proved divergence=proved
// expect: pooled silent
// expect: spread_gradient race=proved divergence=proved
// expect: spread_gradient silent
// expect: scaled_rows race=proved divergence=proved
// expect: scaled_rows silent
// expect: scaled_rows_short race=race divergence=proved
// expect: scaled_rows_short finding race/global error on x lines 175
// expect: either_order race=proved divergence=proved
// expect: either_order silent
// expect: windows race=proved divergence=proved
// expect: windows silent
// expect: scaled_rows precondition "columns >= 1"
// expect: either_order precondition "layers >= 1"
// expect: either_order precondition "size >= 1"
// expect: windows_as_columns race=proved divergence=proved
// expect: windows_as_columns silent
// expect: windows_as_columns precondition "rows >= 1"
// expect: windows_as_columns precondition "columns >= 1"
// expect: windows_as_columns_short race=race divergence=proved
// expect: windows_as_columns_short finding race/global error on out lines 233
//
// An index is decomposed by sizes that only the launch determines, and composed again in another order.

__global__ void heads_first(float* out, const float* in, int batch, int tokens, int heads, int size) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < batch * heads * tokens * size) {
        int b = i / (heads * tokens * size);
        int rest = i % (heads * tokens * size);
        int h = rest / (tokens * size);
        rest = rest % (tokens * size);
        int t = rest / size;
        int e = rest % size;
        out[b * tokens * heads * size + t * heads * size + h * size + e] = in[i];
    }
}

// The weight of a head is too small.
// selvage: block=64 grid=2 arg(batch=2) arg(tokens=3) arg(heads=4) arg(size=5)
__global__ void heads_first_short(float* out, const float* in, int batch, int tokens, int heads, int size) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < batch * heads * tokens * size) {
        int b = i / (heads * tokens * size);
        int rest = i % (heads * tokens * size);
        int h = rest / (tokens * size);
        rest = rest % (tokens * size);
        int t = rest / size;
        int e = rest % size;
        out[b * tokens * heads * size + t * heads + h * size + e] = in[i];
    }
}

// Queries, keys and values are adjacent in each token.
// selvage: block=64 grid=2 arg(batch=2) arg(tokens=3) arg(heads=4) arg(size=5)
__global__ void three_of_each(float* all, const float* q, const float* k, const float* v, int batch, int tokens, int heads, int size) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < batch * heads * tokens * size) {
        int b = i / (heads * tokens * size);
        int rest = i % (heads * tokens * size);
        int h = rest / (tokens * size);
        rest = rest % (tokens * size);
        int t = rest / size;
        int e = rest % size;
        int at = b * tokens * 3 * heads * size + t * 3 * heads * size + h * size + e;
        all[at] += q[i];
        all[at + heads * size] += k[i];
        all[at + 2 * heads * size] += v[i];
    }
}

// There is room for two.
// selvage: block=64 grid=2 arg(batch=2) arg(tokens=3) arg(heads=4) arg(size=5)
__global__ void three_in_two(float* all, const float* q, const float* k, const float* v, int batch, int tokens, int heads, int size) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < batch * heads * tokens * size) {
        int b = i / (heads * tokens * size);
        int rest = i % (heads * tokens * size);
        int h = rest / (tokens * size);
        rest = rest % (tokens * size);
        int t = rest / size;
        int e = rest % size;
        int at = b * tokens * 2 * heads * size + t * 2 * heads * size + h * size + e;
        all[at] += q[i];
        all[at + heads * size] += k[i];
        all[at + 2 * heads * size] += v[i];
    }
}

// Unsigned sizes of 64 bits.
__global__ void planes_last(float* out, const float* in, unsigned long long planes, unsigned long long height, unsigned long long width) {
    unsigned long long i = blockIdx.x * (unsigned long long)blockDim.x + threadIdx.x;
    if (i < planes * height * width) {
        unsigned long long x = i % width, y = i / width % height, p = i / (width * height);
        out[(y * width + x) * planes + p] = in[i];
    }
}

// The index of the plane has no bound other than its stride, `planes`.
__global__ void planes_unbounded(float* out, const float* in, int n, int planes, int height, int width) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        int x = i % width, y = i / width % height, p = i / (width * height);
        out[(y * width + x) * planes + p] = in[i];
    }
}

// Two elements at a time, one of which belongs to the next thread.
__global__ void pairs_of_columns(float* out, const float* in, int rows, int columns) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < rows * columns) {
        int r = i / columns, c = i % columns;
        out[c * rows + r] = in[i];
        out[c * rows + r + 1] = 0.0f;
    }
}

// The index is put together again as it was.
__global__ void pooled(float* out, const float* in, int n, int width, int height, int planes) {
    int i = (blockIdx.x + blockIdx.y * gridDim.x) * blockDim.x + threadIdx.x;
    if (i < n) {
        int plane = i % planes, image = i / planes;
        int o = plane + planes * image;
        out[o] = 0.0f;
        for (int k = 0; k < width * height; k++)
            out[o] += in[k + height * width * (plane + image * planes)];
    }
}

// A grid of two dimensions, and a loop whose trip count is the product of two sizes.
__global__ void spread_gradient(float* gradient, const float* out, int n, int width, int height, int planes) {
    int i = (blockIdx.x + blockIdx.y * gridDim.x) * blockDim.x + threadIdx.x;
    if (i < n) {
        int plane = i % planes, image = i / planes;
        for (int k = 0; k < width * height; k++)
            gradient[k + height * width * (plane + image * planes)] += out[i] / (width * height);
    }
}

// Two loops over the elements of one column.
__global__ void scaled_rows(float* x, int n, int rows, int columns) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        int image = i / columns, column = i % columns;
        float sum = 0.0f;
        for (int r = 0; r < rows; r++)
            sum += x[image * rows * columns + r * columns + column];
        for (int r = 0; r < rows; r++)
            x[image * rows * columns + r * columns + column] /= sum;
    }
}

// The second loop leaves its column.
__global__ void scaled_rows_short(float* x, int n, int rows, int columns) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        int image = i / columns, column = i % columns;
        for (int r = 0; r <= rows; r++)
            x[image * rows * columns + r * columns + column] *= 0.5f;
    }
}

// Rows and layers are exchanged, in one direction or the other.
__global__ void either_order(float* out, const float* x, int n, int size, int layers, int isForward) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        int s = i % size, layer = i / size % layers, image = i / size / layers;
        int a = image * layers * size + layer * size + s, b = image * layers * size + s * layers + layer;
        if (isForward)
            out[b] = x[a];
        else
            out[a] = x[b];
    }
}

// The sizes of the output are computed from those of the input.
__global__ void windows(float* out, const float* in, int n, int in_h, int in_w, int planes, int stride, int size, int pad) {
    int h = (in_h + pad - size) / stride + 1, w = (in_w + pad - size) / stride + 1;
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        int column = i % w;
        i /= w;
        int row = i % h;
        i /= h;
        int plane = i % planes, image = i / planes;
        float most = -1e30f;
        for (int a = 0; a < size; a++)
            for (int b = 0; b < size; b++) {
                int y = row * stride + a - pad / 2, x = column * stride + b - pad / 2;
                if (y >= 0 && y < in_h && x >= 0 && x < in_w)
                    most = fmaxf(most, in[x + in_w * (y + in_h * (plane + image * planes))]);
            }
        out[column + w * (row + h * (plane + planes * image))] = most;
    }
}

// A window becomes a column: the pointer moves on by a plane of the output in two loops.
__global__ void windows_as_columns(float* out, const float* in, int n, int h, int w, int size, int rows, int columns) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x) {
        int column = i % columns, row = i / columns % rows, plane = i / columns / rows;
        float* to = out + (plane * size * size * rows + row) * columns + column;
        for (int y = 0; y < size; y++)
            for (int x = 0; x < size; x++) {
                *to = row + y < h && column + x < w ? in[(plane * h + row + y) * w + column + x] : 0.0f;
                to += rows * columns;
            }
    }
}

// The stride of the planes of a window is a row.
__global__ void windows_as_columns_short(float* out, const float* in, int n, int h, int w, int size, int rows, int columns) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x) {
        int column = i % columns, row = i / columns % rows, plane = i / columns / rows;
        float* to = out + (plane * size * size * rows + row) * columns + column;
        for (int y = 0; y < size; y++)
            for (int x = 0; x < size; x++) {
                *to = row + y < h && column + x < w ? in[(plane * h + row + y) * w + column + x] : 0.0f;
                to += columns;
            }
    }
}
