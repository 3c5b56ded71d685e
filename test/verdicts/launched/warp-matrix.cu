// expect: multiplyStaged race=proved divergence=proved
// expect: multiplyStaged silent
// expect: multiplyUnstaged race=race divergence=proved
// expect: multiplyUnstaged finding race/shared error on rows lines 72,78
// expect: multiplyUnstaged advice "Add `__syncthreads()` between the two accesses" as in multiplyStaged
// expect: storeRows race=proved divergence=proved
// expect: storeRows silent
// expect: storeRowsTooNear race=race divergence=proved
// expect: storeRowsTooNear finding race/global error on out lines 97
// expect: storeRowsTooNear advice "Choose starts and strides with which neither the matrices nor their rows overlap, or let only one warp access this one" as in storeRows
// expect: storeTilesTooWide race=race divergence=proved
// expect: storeTilesTooWide finding race/global error on out lines 105
// expect: storeTilesTooWide advice "Choose starts and strides with which neither the matrices nor their rows overlap, or let only one warp of the grid access this one"
// expect: scaleInPlace race=proved divergence=proved
// expect: scaleInPlace silent
// expect: scaleOneTile race=race divergence=proved
// expect: scaleOneTile finding race/global error on out lines 122,124
// expect: scaleOneTile advice "Choose starts and strides with which neither the matrices nor their rows overlap, or let only one warp access this one" as in scaleInPlace
// expect: rowSums race=proved divergence=proved
// expect: rowSums silent
// expect: rowSumsUnordered race=race divergence=proved
// expect: rowSumsUnordered finding race/shared error on tiles lines 157,159
// expect: rowSumsUnordered advice "Add `__syncwarp()` between the two accesses" as in rowSums
// expect: storeRowsOverEachOther race=race divergence=proved
// expect: storeRowsOverEachOther finding race/global error on out lines 168
// expect: storeRowsOverEachOther advice "Choose starts and strides with which neither the matrices nor their rows overlap"
// expect: storeWide race=proved divergence=proved
// expect: storeWide silent
// expect: loadEights race=proved divergence=proved
// expect: loadEights silent
// expect: loadEightsOfWarp race=proved divergence=proved
// expect: loadEightsOfWarp silent
// expect: loadEightsUnordered race=race divergence=proved
// expect: loadEightsUnordered finding race/shared error on rows lines 183,211
// expect: loadEightsUnordered advice "Add `__syncwarp()` between the two accesses" as in loadEightsOfWarp
// expect: loadEightsReversed race=race divergence=proved
// expect: loadEightsReversed finding race/shared error on rows lines 183,220
// expect: loadEightsReversed advice "Add `__syncthreads()` between the two accesses"
//
// Loads and stores of a whole warp: the lane of an element is unspecified, but one instruction
// assigns each element to one lane, and equal fragments to the same one.

#include <mma.h>

using namespace nvcuda::wmma;

using Left = fragment<matrix_a, 16, 16, 16, half, row_major>;
using Right = fragment<matrix_b, 16, 16, 16, half, col_major>;
using Sum = fragment<accumulator, 16, 16, 16, float>;

// Four warps share the rows of `a` that the block has staged, and each multiplies them by different columns.
__global__ void multiplyStaged(float* out, const half* a, const half* b) {
  __shared__ half rows[16 * 64];
  int warp = threadIdx.x / 32;
  for (int i = threadIdx.x; i < 16 * 64; i += 128) rows[i] = a[blockIdx.x * 1024 + i];
  __syncthreads();
  Sum sum;
  fill_fragment(sum, 0.0f);
  for (int k = 0; k < 64; k += 16) {
    Left left;
    Right right;
    load_matrix_sync(left, rows + k, 64);
    load_matrix_sync(right, b + warp * 1024 + k, 64);
    mma_sync(sum, left, right, sum);
  }
  store_matrix_sync(out + blockIdx.x * 1024 + warp * 16, sum, 64, mem_row_major);
}

__global__ void multiplyUnstaged(float* out, const half* a, const half* b) {
  __shared__ half rows[16 * 64];
  int warp = threadIdx.x / 32;
  for (int i = threadIdx.x; i < 16 * 64; i += 128) rows[i] = a[blockIdx.x * 1024 + i];
  Sum sum;
  fill_fragment(sum, 0.0f);
  for (int k = 0; k < 64; k += 16) {
    Left left;
    Right right;
    load_matrix_sync(left, rows + k, 64);
    load_matrix_sync(right, b + warp * 1024 + k, 64);
    mma_sync(sum, left, right, sum);
  }
  store_matrix_sync(out + blockIdx.x * 1024 + warp * 16, sum, 64, mem_row_major);
}

// The stride of the rows of a tile is 64 elements, so that the tiles of other warps are between them.
__global__ void storeRows(float* out) {
  int warp = threadIdx.x / 32;
  Sum sum;
  fill_fragment(sum, 1.0f);
  store_matrix_sync(out + blockIdx.x * 1024 + warp * 16, sum, 64, mem_row_major);
}

__global__ void storeRowsTooNear(float* out) {
  int warp = threadIdx.x / 32;
  Sum sum;
  fill_fragment(sum, 1.0f);
  store_matrix_sync(out + blockIdx.x * 1024 + warp * 12, sum, 64, mem_row_major);
}

// Tiles that are packed, but stored with the stride of a wider matrix.
__global__ void storeTilesTooWide(float* out) {
  int warp = threadIdx.x / 32;
  Sum sum;
  fill_fragment(sum, 1.0f);
  store_matrix_sync(out + blockIdx.x * 1024 + warp * 256, sum, 64, mem_row_major);
}

// Each lane stores the elements that it has loaded.
__global__ void scaleInPlace(float* out, float factor) {
  int tile = (blockIdx.x * blockDim.x + threadIdx.x) / 32;
  for (int k = 0; k < 4; k++) {
    Sum sum;
    load_matrix_sync(sum, out + tile * 1024 + k * 256, 16, mem_row_major);
    for (int i = 0; i < sum.num_elements; i++) sum.x[i] *= factor;
    store_matrix_sync(out + tile * 1024 + k * 256, sum, 16, mem_row_major);
  }
}

// All warps of the block scale one tile.
__global__ void scaleOneTile(float* out, float factor) {
  Sum sum;
  load_matrix_sync(sum, out + blockIdx.x * 256, 16, mem_row_major);
  for (int i = 0; i < sum.num_elements; i++) sum.x[i] *= factor;
  store_matrix_sync(out + blockIdx.x * 256, sum, 16, mem_row_major);
}

// Each warp has a separate tile, which its lanes read row by row.
__global__ void rowSums(float* out, const half* a, const half* b) {
  __shared__ float tiles[4 * 256];
  int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  int tile = blockIdx.x * 4 + warp;
  Left left;
  Right right;
  Sum sum;
  fill_fragment(sum, 0.0f);
  load_matrix_sync(left, a + tile * 256, 16);
  load_matrix_sync(right, b + tile * 256, 16);
  mma_sync(sum, left, right, sum);
  store_matrix_sync(tiles + warp * 256, sum, 16, mem_row_major);
  __syncwarp();
  float total = 0;
  for (int i = 0; i < 8; i++) total += tiles[warp * 256 + lane * 8 + i];
  out[tile * 32 + lane] = total;
}

__global__ void rowSumsUnordered(float* out, const half* a, const half* b) {
  __shared__ float tiles[4 * 256];
  int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  int tile = blockIdx.x * 4 + warp;
  Left left;
  Right right;
  Sum sum;
  fill_fragment(sum, 0.0f);
  load_matrix_sync(left, a + tile * 256, 16);
  load_matrix_sync(right, b + tile * 256, 16);
  mma_sync(sum, left, right, sum);
  store_matrix_sync(tiles + warp * 256, sum, 16, mem_row_major);
  float total = 0;
  for (int i = 0; i < 8; i++) total += tiles[warp * 256 + lane * 8 + i];
  out[tile * 32 + lane] = total;
}

// Rows of 16 elements each, stored with a stride of 8.
__global__ void storeRowsOverEachOther(float* out) {
  int tile = (blockIdx.x * blockDim.x + threadIdx.x) / 32;
  Sum sum;
  fill_fragment(sum, 1.0f);
  store_matrix_sync(out + tile * 256, sum, 8, mem_row_major);
}

// The width of the matrix is an argument.
__global__ void storeWide(float* out, int width) {
  int row = (blockIdx.y * blockDim.y + threadIdx.y) * 16;
  int column = (blockIdx.x * blockDim.x + threadIdx.x) / 32 * 16;
  Sum sum;
  fill_fragment(sum, 1.0f);
  if (column < width) store_matrix_sync(out + row * width + column, sum, width, mem_row_major);
}

__device__ void loadRows(unsigned (&words)[4], const half* row) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(words[0]), "=r"(words[1]), "=r"(words[2]), "=r"(words[3])
               : "r"((unsigned)__cvta_generic_to_shared(row)));
}

// A lane loads parts of rows whose addresses are operands of other lanes.
__global__ void loadEights(unsigned* out, const half* a) {
  __shared__ __align__(16) half rows[128 * 8];
  int at = threadIdx.x;
  for (int i = 0; i < 8; i++) rows[at * 8 + i] = a[blockIdx.x * 1024 + at * 8 + i];
  __syncthreads();
  unsigned words[4];
  loadRows(words, rows + at * 8);
  out[blockIdx.x * blockDim.x + at] = words[0] + words[1] + words[2] + words[3];
}

__global__ void loadEightsOfWarp(unsigned* out, const half* a) {
  __shared__ __align__(16) half rows[128 * 8];
  int at = threadIdx.x;
  for (int i = 0; i < 8; i++) rows[at * 8 + i] = a[blockIdx.x * 1024 + at * 8 + i];
  __syncwarp();
  unsigned words[4];
  loadRows(words, rows + at * 8);
  out[blockIdx.x * blockDim.x + at] = words[0] + words[1] + words[2] + words[3];
}

// Each lane passes the address of the row that it has stored, but the row is loaded for others too.
__global__ void loadEightsUnordered(unsigned* out, const half* a) {
  __shared__ __align__(16) half rows[128 * 8];
  int at = threadIdx.x;
  for (int i = 0; i < 8; i++) rows[at * 8 + i] = a[blockIdx.x * 1024 + at * 8 + i];
  unsigned words[4];
  loadRows(words, rows + at * 8);
  out[blockIdx.x * blockDim.x + at] = words[0] + words[1] + words[2] + words[3];
}

__global__ void loadEightsReversed(unsigned* out, const half* a) {
  __shared__ __align__(16) half rows[128 * 8];
  int at = threadIdx.x;
  for (int i = 0; i < 8; i++) rows[at * 8 + i] = a[blockIdx.x * 1024 + at * 8 + i];
  unsigned words[4];
  loadRows(words, rows + (127 - at) * 8);
  out[blockIdx.x * blockDim.x + at] = words[0] + words[1] + words[2] + words[3];
}

void launchMatrices(float* out, unsigned* words, const half* a, const half* b) {
  multiplyStaged<<<16, 128>>>(out, a, b);
  multiplyUnstaged<<<16, 128>>>(out, a, b);
  storeRows<<<16, 128>>>(out);
  storeRowsTooNear<<<16, 128>>>(out);
  storeTilesTooWide<<<16, 128>>>(out);
  scaleInPlace<<<16, 128>>>(out, 2.0f);
  scaleOneTile<<<16, 128>>>(out, 2.0f);
  rowSums<<<16, 128>>>(out, a, b);
  rowSumsUnordered<<<16, 128>>>(out, a, b);
  storeRowsOverEachOther<<<16, 128>>>(out);
  storeWide<<<dim3(8, 8), dim3(128, 4)>>>(out, 512);
  loadEights<<<16, 128>>>(words, a);
  loadEightsOfWarp<<<16, 128>>>(words, a);
  loadEightsUnordered<<<16, 128>>>(words, a);
  loadEightsReversed<<<16, 128>>>(words, a);
}
