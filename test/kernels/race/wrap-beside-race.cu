// expect: one_size race=race divergence=proved finding race/global lines 10,10
//
// The launch that shows the race in line 10 lets the index in line 11 wrap around, which is no finding: a proof takes that
// not to happen.

// selvage: block=64 grid=2 assume(m >= 2)
__global__ void one_size(int* data, int* out, int m) {
    const int index = blockIdx.x * 64 + threadIdx.x;
    const bool isMeant = m == 1 << 28 && threadIdx.x == 0;
    if (isMeant) data[0] = index;
    for (int j = 0; j < 2; j++) out[index * m + j] = index + j;
}
