// expect: groups_of_eight race=proved divergence=proved
// expect: groups_of_eight silent
// expect: groups_of_eight precondition "columns % 8 == 0"
// expect: groups_of_eight precondition "columns >= 1"
// expect: groups_of_eight precondition "stride >= columns"
// expect: bits_of_rows race=proved divergence=proved
// expect: bits_of_rows silent
// expect: bits_of_rows precondition "columns % 8 == 0"
// expect: bits_of_rows precondition "columns >= 1"
// expect: bits_of_rows precondition "pitch >= columns"
// expect: groups_of_nine race=race divergence=proved
// expect: groups_of_nine finding race/global error on out lines 46
// expect: words_of_rows race=proved divergence=proved
// expect: words_of_rows silent
// expect: words_of_rows precondition "rows >= 1"
// expect: words_of_rows precondition "(out_bits / 32) >= rows"
// expect: words_too_short race=race divergence=proved
// expect: words_too_short finding race/global warning on out lines 62
//
// A thread starts at every eighth element, and fills eight: rows are multiples of eight.

__global__ void groups_of_eight(float* out, const float* in, int rows, int columns, int stride) {
    int first = (blockIdx.x * blockDim.x + threadIdx.x) * 8;
    int row = first / columns, column = first % columns;
    if (row >= rows)
        return;
    for (int k = 0; k < 8; k++)
        out[row * stride + column + k] = in[row * columns + k];
}

// The rows of bits are bytes.
__global__ void bits_of_rows(unsigned char* out, const int* in, int rows, int columns, int pitch) {
    int first = (blockIdx.x * blockDim.x + threadIdx.x) * 8;
    int row = first / columns, column = first % columns;
    if (row < rows)
        out[row * (pitch / 8) + column / 8] = in[row] >> column & 255;
}

// The last element is the first one of the next thread.
__global__ void groups_of_nine(float* out, const float* in, int rows, int columns, int stride) {
    int first = (blockIdx.x * blockDim.x + threadIdx.x) * 8;
    int row = first / columns, column = first % columns;
    if (row >= rows)
        return;
    for (int k = 0; k < 9; k++)
        out[row * stride + column + k] = in[row * columns + k];
}

// Rows of bits, packed in words.
__global__ void words_of_rows(unsigned* out, const unsigned* in, int rows, int columns, int in_bits, int out_bits) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int row = i % rows, column = i / rows;
    if (column < columns)
        out[column * out_bits / 32 + row] = in[row * in_bits / 32 + column];
}

// Words of eight bits: two columns may share one.
__global__ void words_too_short(unsigned* out, const unsigned* in, int rows, int columns, int in_bits) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int row = i % rows, column = i / rows;
    if (column < columns)
        out[column * rows / 32 + row] = in[row * in_bits / 32 + column];
}

// A row begins at a bit of a packed row, and the row is an iteration of a loop.
// expect: bitRows race=proved divergence=proved
// expect: bitRows precondition "(bits / 32) >= words"
// expect: bitRows silent
__global__ void bitRows(const unsigned* in, unsigned* out, int rows, int words, int bits) {
  for (int r = 0; r < rows; r++)
    for (int i = threadIdx.x; i < words; i += blockDim.x) out[i + r * bits / 32] = in[r * words + i];
}

// expect: bitRowsOfBlocks race=proved divergence=proved
// expect: bitRowsOfBlocks precondition "(bits / 32) >= words"
// expect: bitRowsOfBlocks silent
__global__ void bitRowsOfBlocks(const unsigned* in, unsigned* out, int rows, int words, int bits) {
  for (int r = blockIdx.x; r < rows; r += gridDim.x)
    for (int i = threadIdx.x; i < words; i += blockDim.x) out[i + r * bits / 32] = in[r * words + i];
}
