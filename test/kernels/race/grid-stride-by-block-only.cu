// expect: accumulate race=race divergence=proved finding race/global lines 8,8
//
// The stride forgets gridDim.x, so a block walks into the elements of the next one.

// selvage: block=256 grid=4 arg(n=2048)
__global__ void accumulate(int n, const float* in, float* sum) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x) {
        sum[i] += in[i];
    }
}
