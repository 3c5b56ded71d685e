// expect: lift race=proved divergence=proved
//
// Shared memory indexed by all three dimensions of the block, read across z after the barrier.

// selvage: block=8,4,4 grid=6,1,1
__global__ void lift(const float* in, float* out) {
    __shared__ float cube[4][4][8];
    int rank = (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x;
    int i = blockIdx.x * 128 + rank;
    cube[threadIdx.z][threadIdx.y][threadIdx.x] = in[i];
    __syncthreads();
    out[i] = cube[3 - threadIdx.z][threadIdx.y][threadIdx.x];
}
