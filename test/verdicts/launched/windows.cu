// expect: lighten race=proved divergence=proved
// expect: lighten silent
// expect: lighten_halved race=race divergence=proved
// expect: lighten_halved finding race/global warning on image lines 30
// expect: add_to_label race=proved divergence=proved
// expect: add_to_label silent
// expect: add_to_label_of_next race=race divergence=proved
// expect: add_to_label_of_next finding race/global warning on loss lines 46,48
//
// A window of an image at any offset, of which the guards keep what is inside; and the column of a label in each row.

__global__ void lighten(float* image, int w, int h, int x0, int y0, int columns, int rows) {
    int column = blockIdx.x * 8 + threadIdx.x, row = blockIdx.y * 8 + threadIdx.y;
    if (column >= columns || row >= rows)
        return;
    int x = x0 + column, y = y0 + row;
    if (x < 0 || y < 0 || x >= w || y >= h)
        return;
    image[y * w + x] += 1;
}

// Two rows are one.
__global__ void lighten_halved(float* image, int w, int h, int x0, int y0, int columns, int rows) {
    int column = blockIdx.x * 8 + threadIdx.x, row = blockIdx.y * 8 + threadIdx.y;
    if (column >= columns || row >= rows)
        return;
    int x = x0 + column, y = y0 + row;
    if (x < 0 || y < 0 || x >= w || y >= h)
        return;
    image[y / 2 * w + x] += 1;
}

__global__ void add_to_label(float* loss, const long long* label, int classes) {
    int row = blockIdx.x, own = (int)label[row];
    if (threadIdx.x == 0)
        loss[row * classes + own] -= 1;
    __syncthreads();
    for (int i = threadIdx.x; i < classes; i += blockDim.x)
        loss[row * classes + i] *= 2;
}

// Without a barrier, another thread may have doubled the loss.
__global__ void add_to_label_of_next(float* loss, const long long* label, int classes) {
    int row = blockIdx.x, own = (int)label[row];
    for (int i = threadIdx.x; i < classes; i += blockDim.x)
        loss[row * classes + i] *= 2;
    if (threadIdx.x == 0)
        loss[row * classes + own] -= 1;
}

void run(float* image, float* loss, const long long* label, int w, int h, int x0, int y0, int columns, int rows) {
    dim3 block(8, 8), grid((columns + 7) / 8, (rows + 7) / 8);
    lighten<<<grid, block>>>(image, w, h, x0, y0, columns, rows);
    lighten_halved<<<grid, block>>>(image, w, h, x0, y0, columns, rows);
    add_to_label<<<rows, 128>>>(loss, label, columns);
    add_to_label_of_next<<<rows, 128>>>(loss, label, columns);
}
