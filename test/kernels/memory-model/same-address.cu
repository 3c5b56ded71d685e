// expect: pairs race=proved divergence=proved
// expect: pairs_that_meet race=race divergence=proved finding race/global lines 17,18
// expect: bytes_side_by_side race=proved divergence=proved
// expect: bytes_that_meet race=race divergence=proved finding race/shared lines 33,34
//
// A race needs a common address, in bytes: accesses of different widths overlap where their ranges do.

__global__ void pairs(int* a) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    a[2 * i] = i;
    a[2 * i + 1] = a[2 * i] + 1;
}

// selvage: block=64 grid=2
__global__ void pairs_that_meet(int* a) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    a[2 * i] = i;
    a[2 * i + 1] = a[2 * i + 2];
}

__global__ void bytes_side_by_side(unsigned char* a) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    a[4 * i] = 1;
    a[4 * i + 1] = 2;
    *(unsigned short*)(a + 4 * i + 2) = 3;
}

// selvage: block=64 grid=2
__global__ void bytes_that_meet(unsigned* out) {
    __shared__ unsigned char s[260];
    int t = threadIdx.x;
    if (t == 0)
        s[255] = 9;
    unsigned word = *(unsigned*)(s + 4 * t);
    out[blockIdx.x * 64 + t] = word;
}
