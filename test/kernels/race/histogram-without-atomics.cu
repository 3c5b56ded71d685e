// expect: count_residues race=race divergence=proved finding race/global lines 7,7

// selvage: block=256 grid=4 arg(n=1000)
__global__ void count_residues(int* bins, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        bins[i % 16] += 1;
    }
}
