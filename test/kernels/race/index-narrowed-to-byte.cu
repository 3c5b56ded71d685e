// expect: stage race=race divergence=proved finding race/shared lines 10,10
//
// The slot wraps at 256 with 512 threads.

// selvage: block=512 grid=4
__global__ void stage(const float* in, float* out) {
    __shared__ float s[512];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned char slot = threadIdx.x;
    s[slot] = in[i];
    __syncthreads();
    out[i] = s[slot];
}
