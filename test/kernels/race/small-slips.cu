// expect: pair_sums race=race divergence=proved finding race/shared lines 14,15
// expect: mirror_rows race=race divergence=proved finding race/shared lines 23,24
// expect: all_in_one race=race divergence=proved finding race/global lines 29,29
// expect: overlapping_blocks race=race divergence=proved finding race/global lines 35,35
//
// Four small slips: a forgotten barrier, twice, an index without the thread, and a block that is one element too long.

constexpr int WIDTH = 64;

// selvage: block=64 grid=2
__global__ void pair_sums(const int* in, int* out) {
    __shared__ int s[WIDTH];
    int t = threadIdx.x;
    s[t] = in[blockIdx.x * WIDTH + t];
    out[blockIdx.x * WIDTH + t] = s[t] + s[t ^ 1];
}

// selvage: block=64,4 grid=2
__global__ void mirror_rows(const float* in, float* out) {
    __shared__ float row[4][WIDTH];
    int x = threadIdx.x, y = threadIdx.y;
    int at = (blockIdx.x * 4 + y) * WIDTH;
    row[y][x] = in[at + x];
    out[at + x] = row[y][WIDTH - 1 - x];
}

// selvage: block=64 grid=2
__global__ void all_in_one(int* out) {
    out[blockIdx.x] = threadIdx.x;
}

// selvage: block=65 grid=4
__global__ void overlapping_blocks(int* out) {
    int i = blockIdx.x * WIDTH + threadIdx.x;
    out[i] = i * (int)threadIdx.x;
}
