// expect: blur_rows race=race divergence=proved finding race/shared lines 10,10
//
// The pitch of a row is taken from the wrong dimension of the block.

// selvage: block=16,8 grid=4
__global__ void blur_rows(const float* in, float* out) {
    __shared__ float tile[128];
    int tx = threadIdx.x, ty = threadIdx.y;
    int i = blockIdx.x * 128 + ty * 16 + tx;
    tile[ty * blockDim.y + tx] = in[i];
    __syncthreads();
    out[i] = tile[ty * blockDim.y + tx];
}
