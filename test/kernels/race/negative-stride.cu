// expect: countdown race=proved divergence=proved
// expect: countdown_overlapping race=race divergence=proved finding race/global lines 14,14
//
// From the end to the start; the second kernel steps by half a block.

// selvage: block=256 grid=1 arg(n=1024)
__global__ void countdown(int* a, int n) {
    for (int i = n - 1 - (int)threadIdx.x; i >= 0; i -= blockDim.x) a[i] *= 2;
}

// selvage: block=256 grid=1 arg(n=1024)
__global__ void countdown_overlapping(int* a, int n) {
    for (int i = n - 1 - (int)threadIdx.x; i >= 0; i -= 128) {
        a[i] *= 2;
    }
}
