// expect: row_pitch_any race=proved divergence=proved
// expect: row_pitch_any silent
// expect: row_pitch_any precondition "ld >= w"
// expect: row_short_any race=race divergence=proved
// expect: row_short_any finding race/global error on a lines 59
// expect: row_swapped_any race=race divergence=proved
// expect: row_swapped_any finding race/global warning on a lines 66 when "w > h"
// expect: row_constant_any race=proved divergence=proved
// expect: row_constant_any silent
// expect: row_constant_any precondition "w <= 1024"
// expect: row_narrow_any race=proved divergence=proved
// expect: row_narrow_any silent
// expect: row_narrow_any precondition "w <= 1024"
// expect: volume_any race=proved divergence=proved
// expect: volume_any silent
// expect: volume_any precondition "plane >= nx * ny"
// expect: step_any race=proved divergence=proved
// expect: step_any silent
// expect: step_any precondition "step >= 1"
// expect: row_sum_any race=proved divergence=proved
// expect: row_sum_any silent
// expect: row_sum_any precondition "n >= 1"
// expect: rotate_mask_any race=proved divergence=proved
// expect: rotate_mask_any silent
// expect: rotate_mask_any precondition "(m & (m - 1)) == 0"
// expect: spread_mask_any race=race divergence=proved
// expect: spread_mask_any finding race/global error on out lines 113
// expect: unsigned_rows_any race=proved divergence=proved
// expect: unsigned_rows_any silent
// expect: unsigned_rows_any assumes no-wrap
// expect: groups_any race=proved divergence=proved
// expect: groups_any silent
// expect: groups_any precondition "groups >= 1"
// expect: groups_any precondition "image_stride >= 1"
// expect: groups_any precondition "stride >= 1"
// expect: groups_any precondition "group_stride >= images * image_stride - image_stride + 1 && stride >= images * image_stride + groups * group_stride - image_stride - group_stride + 1 || image_stride >= n * stride + groups * group_stride - stride - group_stride + 1 && group_stride >= n * stride - stride + 1"
// expect: groups_one_any race=race divergence=proved
// expect: groups_one_any finding race/global error on out lines 138
// expect: halves_any race=proved divergence=proved
// expect: halves_any silent
// expect: halves_any precondition "out_stride >= 2 * width"
// expect: last_column_any race=proved divergence=proved
// expect: last_column_any silent
// expect: last_column_any precondition "out_stride >= width + 1"
// expect: halves_short_any race=race divergence=proved
// expect: halves_short_any finding race/global error on out lines 167,168

// A stride that bounds no index is at least the extent below it.
__global__ void row_pitch_any(float* a, int w, int h, int ld) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < w && y < h)
        a[y * ld + x] *= 2.0f;
}

// No w makes this stride large enough.
__global__ void row_short_any(float* a, int w, int h) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < w && y < h)
        a[y * (w - 1) + x] *= 2.0f;
}

// The height bounds y and is the stride of y.
__global__ void row_swapped_any(float* a, int w, int h) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < w && y < h)
        a[y * h + x] *= 2.0f;
}

__global__ void row_constant_any(int* out, int w) {
    for (int i = threadIdx.x; i < w; i += blockDim.x)
        out[blockIdx.x * 1024 + i] = i;
}

// The index does not wrap around, narrow as it is.
__global__ void row_narrow_any(int* out, short w) {
    for (short i = threadIdx.x; i < w; i += blockDim.x)
        out[blockIdx.x * 1024 + i] = i;
}

__global__ void volume_any(float* a, int nx, int ny, int plane) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < nx && y < ny)
        a[blockIdx.z * plane + y * nx + x] += 1.0f;
}

__global__ void step_any(float* out, const float* in, int step, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        out[i * step] = in[i];
}

// The sum of a row takes the place of its first element. If rows were empty, all sums would.
__global__ void row_sum_any(float* a, const float* bias, int n) {
    if (threadIdx.x == 0) {
        float sum = bias[blockIdx.x];
        for (int i = 0; i < n; i++)
            sum += a[blockIdx.x * n + i];
        a[blockIdx.x * n] = sum;
    }
}

// A rotation of m elements, if m is a power of two.
__global__ void rotate_mask_any(float* out, const float* in, int shift, int m) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < m)
        out[(i + shift) & (m - 1)] = in[i];
}

// The even slots take all the elements: both halves go to the same ones.
__global__ void spread_mask_any(float* out, const float* in, int m) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < m)
        out[(2 * i) & (m - 1)] = in[i];
}

__global__ void unsigned_rows_any(float* a, unsigned w, unsigned h) {
    unsigned x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < w && y < h)
        a[y * w + x] *= 2.0f;
}

// One row of each group of each image: the stride of the images is the extent of their groups.
__global__ void groups_any(float* out, int n, int images, int image_stride, int groups, int group_stride, int stride) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < images * groups) {
        float* row = out + i / groups * image_stride + i % groups * group_stride;
        for (int k = 0; k < n; k++)
            row[k * stride] *= 0.5f;
    }
}

// All groups of an image have one row.
__global__ void groups_one_any(float* out, int n, int images, int image_stride, int groups, int stride) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < images * groups) {
        float* row = out + i / groups * image_stride;
        for (int k = 0; k < n; k++)
            row[k * stride] *= 0.5f;
    }
}

// A row contains two of the input's width.
__global__ void halves_any(float* out, const float* in, int in_stride, int out_stride, int width) {
    const float* a = in + blockIdx.x * in_stride;
    float* sum = out + blockIdx.x * out_stride;
    float* product = sum + width;
    for (int j = threadIdx.x; j < width; j += blockDim.x) {
        sum[j] = a[j] + a[width + j];
        product[j] = a[j] * a[width + j];
    }
}

// A row has one element more.
__global__ void last_column_any(float* out, const float* in, int in_stride, int out_stride, int width) {
    for (int j = threadIdx.x; j < width; j += blockDim.x)
        out[blockIdx.x * out_stride + j] = 2.0f * in[blockIdx.x * in_stride + j];
    if (threadIdx.x == 0)
        out[blockIdx.x * out_stride + width] = 1.0f;
}

// A row contains two, but its stride is that of one.
__global__ void halves_short_any(float* out, const float* in, int in_stride, int width) {
    float* sum = out + blockIdx.x * width;
    float* product = sum + width;
    for (int j = threadIdx.x; j < width; j += blockDim.x) {
        float a = in[blockIdx.x * in_stride + j];
        sum[j] = a + 1.0f;
        product[j] = a * 2.0f;
    }
}
