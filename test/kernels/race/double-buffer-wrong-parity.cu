// expect: sweep race=race divergence=proved finding race/shared lines 15,16
//
// The buffer that is filled is the one that is read.

// selvage: block=128 grid=4 arg(steps=12)
__global__ void sweep(const float* in, float* out, int steps) {
    __shared__ float tile[2][128];
    int t = threadIdx.x;
    const float* source = in + blockIdx.x * steps * 128;
    float sum = 0.0f;

    tile[1][t] = source[t];
    __syncthreads();
    for (int k = 0; k < steps; k++) {
        if (k + 1 < steps) tile[(k + 1) & 1][t] = source[(k + 1) * 128 + t];
        sum += tile[(k + 1) & 1][(t + 1) % 128];
        __syncthreads();
    }
    out[blockIdx.x * 128 + t] = sum;
}
