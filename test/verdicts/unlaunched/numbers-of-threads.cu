// expect: shift_left_in_place race=race divergence=proved
// expect: shift_left_in_place finding race/global error on v lines 44
// expect: shift_right_in_place race=race divergence=proved
// expect: shift_right_in_place finding race/global error on v lines 50
// expect: first_plane race=race divergence=proved
// expect: first_plane finding race/global error on image lines 58,59
// expect: ring_of_slots race=race divergence=proved
// expect: ring_of_slots finding race/global warning on slots lines 66 when "n > size"
// expect: ring_of_bits race=race divergence=proved
// expect: ring_of_bits finding race/global warning on slots lines 72 when "n > bits + 1"
// expect: layer_of_block race=race divergence=proved
// expect: layer_of_block finding race/global error on out lines 78
// expect: halved_from_n race=race divergence=proved
// expect: halved_from_n finding race/shared error on s lines 87
// expect: halved_from_n_in_order race=proved divergence=proved
// expect: halved_from_n_in_order silent
// expect: product_in_tiles race=race divergence=proved
// expect: product_in_tiles finding race/shared error on l lines 108,111
// expect: product_in_tiles finding race/shared error on r lines 109,111
// expect: product_of_grid race=race divergence=proved
// expect: product_of_grid finding race/shared error on l lines 122,125
// expect: product_of_grid finding race/shared error on r lines 123,125
// expect: pairs_of_row race=proved divergence=proved
// expect: pairs_of_row silent
// expect: pairs_of_row precondition "ld >= n"
// expect: pairs_of_row precondition "n % 2 == 0"
// expect: digits_of_pixel race=proved divergence=proved
// expect: digits_of_pixel silent
// open: digits_of_pixel no run shows an overlap, and no tier refutes it
// expect: halved_rows race=race divergence=proved
// expect: halved_rows finding race/global error on out lines 149
// expect: folded race=race divergence=proved
// expect: folded finding race/global warning on v lines 155 when "n % 2 != 0"
// expect: turned race=race divergence=proved
// expect: turned finding race/global warning on out lines 161 when "h > w"
//
// A race is an error if the difference of the two addresses contains only numbers of threads and iterations, or is 0
// for all sizes; it is a warning if a chosen scalar decides it.

// Each thread reads what another one writes, for every shift.
__global__ void shift_left_in_place(float* v, int n, int shift) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i + shift < n)
        v[i] = 0.5f * v[i + shift];
}

__global__ void shift_right_in_place(float* v, int n, int shift) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= shift && i < n)
        v[i] -= v[i - shift];
}

// The image is multiplied by the number of the plane, not by the number of planes: all images share their first plane.
__global__ void first_plane(float* image, float level, int size, int planes) {
    const int p = blockIdx.x % planes, i = blockIdx.x / planes;
    float* plane = image + i * size * p + p * size;
    for (int k = threadIdx.x; k < size; k += blockDim.x)
        if (plane[k] < level)
            plane[k] = level;
}

// Correct as long as the ring is large enough.
__global__ void ring_of_slots(int* slots, int size, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        slots[i % size] = i;
}

__global__ void ring_of_bits(int* slots, unsigned bits, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        slots[i & bits] = i;
}

// threadIdx.z is stored, and in no index.
__global__ void layer_of_block(int* out, int n) {
    if (threadIdx.x < n)
        out[threadIdx.x] = threadIdx.z;
}

// A barrier is missing in the loop, which starts from a parameter.
__global__ void halved_from_n(float* out, const float* in, int n) {
    __shared__ float s[256];
    int t = threadIdx.x;
    s[t] = t < n ? in[t] : 0.0f;
    __syncthreads();
    for (int d = n / 2; d > 0; d /= 2) if (t < d && t + d < 256) s[t] += s[t + d];
    if (t == 0) out[blockIdx.x] = s[0];
}

__global__ void halved_from_n_in_order(float* out, const float* in, int n) {
    __shared__ float s[256];
    int t = threadIdx.x;
    s[t] = t < n ? in[t] : 0.0f;
    for (int d = n / 2; d > 0; d /= 2) {
        __syncthreads();
        if (t < d && t + d < 256) s[t] += s[t + d];
    }
    if (t == 0) out[blockIdx.x] = s[0];
}

// The next tile overwrites the one that slower threads still read.
__global__ void product_in_tiles(float* c, const float* a, const float* b, int m, int n, int inner) {
    __shared__ float l[16][16], r[16][16];
    int x = threadIdx.x, y = threadIdx.y, row = blockIdx.y * 16 + y, column = blockIdx.x * 16 + x;
    float sum = 0.0f;
    for (int k = 0; k < inner; k += 16) {
        l[y][x] = row < m && k + x < inner ? a[row * inner + k + x] : 0.0f;
        r[y][x] = column < n && k + y < inner ? b[(k + y) * n + column] : 0.0f;
        __syncthreads();
        for (int j = 0; j < 16; j++) sum += l[y][j] * r[j][x];
    }
    if (row < m && column < n) c[row * n + column] = sum;
}

__global__ void product_of_grid(float* c, const float* a, const float* b, int inner) {
    __shared__ float l[16][16], r[16][16];
    int x = threadIdx.x, y = threadIdx.y, n = gridDim.x * 16;
    int row = blockIdx.y * 16 + y, column = blockIdx.x * 16 + x;
    float sum = 0.0f;
    for (int tile = 0; tile < inner / 16; tile++) {
        l[y][x] = a[row * inner + tile * 16 + x];
        r[y][x] = b[(tile * 16 + y) * n + column];
        __syncthreads();
        for (int j = 0; j < 16; j++) sum += l[y][j] * r[j][x];
    }
    c[row * n + column] = sum;
}

// The halves of a row are parts of it.
__global__ void pairs_of_row(float* rows, int n, int ld) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (2 * i >= n) return;
    float* row = rows + blockIdx.y * ld;
    float low = row[i], high = row[i + n / 2];
    row[i] = -high;
    row[i + n / 2] = low;
}

// The number is below the product of the divisors, so each pixel has one element.
__global__ void digits_of_pixel(float* out, const float* in, int n, int w, int h, int images) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i % w + w * (i / w % h + h * (i / w / h % images))] = in[i];
}

// Two rows of an image come to one row, for all sizes.
__global__ void halved_rows(float* out, const float* in, int n, int w, int h, int images) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i % w + w * (i / w % h / 2 + h * (i / w / h % images))] = in[i];
}

// The guard takes care of an odd size, in which the middle element belongs to two threads.
__global__ void folded(float* v, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n - n / 2) v[i] += v[i + n / 2];
}

// The width bounds the column, so that the height may be larger or smaller.
__global__ void turned(int* out, int w, int h) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < w * h) out[i % w * w + i / w] = i;
}
