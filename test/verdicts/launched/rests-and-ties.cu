// expect: scaled_in_fours race=race divergence=proved
// expect: scaled_in_fours finding race/global warning on v lines 22
// expect: tiles_of_sixteen race=proved divergence=proved
// expect: tiles_of_sixteen silent
// expect: pairs_of_planes race=proved divergence=proved
// expect: pairs_of_planes silent
// expect: pairs_of_planes precondition "row >= w"
// expect: pairs_of_planes precondition "plane >= w"
// expect: pairs_of_planes precondition "plane >= h * row + w - row || row >= planes * plane + w - plane"
// expect: halved_block race=race divergence=proved
// expect: halved_block finding race/global error on out lines 49
//
// What the host program makes of a size decides how large it is: the number of blocks, and the rest of the last one.

// The first loop leaves out the last elements, which all blocks scale if the fours fill whole blocks.
__global__ void scaled_in_fours(float* v, int n, float by) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n / 4; i += blockDim.x * gridDim.x)
        for (int k = 0; k < 4; k++)
            v[4 * i + k] *= by;
    int start = ((n / 4 - 1) / blockDim.x + 1) * (4 * blockDim.x) + threadIdx.x;
    for (int i = start; i < n; i++)
        v[i] *= by;
}

// The grid has one block a row: a tile of 16 columns contains all rows.
__global__ void tiles_of_sixteen(float4* out, const float4* in, int rows) {
    int c = 4 * threadIdx.x;
    int at = ((c & ~15u) * rows + 16 * blockIdx.x + (c & 15)) >> 2;
    out[at] = in[at];
}

// Rows and planes nest in either order.
__global__ void pairs_of_planes(float* out, const float* in, int w, int h, int planes, int row, int plane) {
    int y = blockIdx.x, p = blockIdx.y;
    if (y >= h || p >= planes)
        return;
    for (int from = 0; from < w; from += 2 * blockDim.x)
        for (int k = 0; k < 2; k++) {
            int x = from + 2 * threadIdx.x + k;
            if (x < w)
                out[p * plane + y * row + x] = in[p * plane + y * row + x];
        }
}

// Two blocks have the same elements, for all sizes of more than one block.
__global__ void halved_block(float* out, int n) {
    int i = (blockIdx.x / 2) * blockDim.x + threadIdx.x;
    if (i < n)
        out[i] += 1.0f;
}

void launch(float* v, float4* w, const float4* in, float* out, const float* image, int n, int rows, int columns, int width, int height, int planes, int row, int plane) {
    scaled_in_fours<<<(n / 4 + 255) / 256, 256>>>(v, n, 2.0f);
    tiles_of_sixteen<<<rows, columns / 4>>>(w, in, rows);
    pairs_of_planes<<<dim3(height, planes), 128>>>(out, image, width, height, planes, row, plane);
    halved_block<<<(n + 255) / 256, 256>>>(out, n);
}
