// expect: first_above race=proved divergence=proved
//
// Loops that each thread leaves when it likes; no barrier inside.

__global__ void first_above(const float* rows, int* index, int rows_count, int length, float level) {
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row < rows_count) {
        int found = -1;
        for (int k = 0; k < length; ++k) {
            float v = rows[k * rows_count + row];
            if (v != v) continue;
            if (v > level) {
                found = k;
                break;
            }
        }
        index[row] = found;
    }
}
