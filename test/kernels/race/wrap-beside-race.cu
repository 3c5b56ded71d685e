// expect: one_size race=possible divergence=proved
//
// Only an argument with which the index in line 11 wraps around shows the race in line 10: no program uses it. Nor is
// that index a finding: a proof assumes that it does not wrap around.

// selvage: block=64 grid=2 assume(m >= 2)
__global__ void one_size(int* data, int* out, int m) {
    const int index = blockIdx.x * 64 + threadIdx.x;
    const bool isMeant = m == 1 << 28 && threadIdx.x == 0;
    if (isMeant) data[0] = index;
    for (int j = 0; j < 2; j++) out[index * m + j] = index + j;
}
