// expect: sweep race=proved divergence=proved
//
// One barrier an iteration is enough: the buffers alternate by the parity of k.

// selvage: block=128 grid=4 arg(steps=12)
__global__ void sweep(const float* in, float* out, int steps) {
    __shared__ float tile[2][128];
    int t = threadIdx.x;
    const float* source = in + blockIdx.x * steps * 128;
    float sum = 0.0f;

    tile[0][t] = source[t];
    __syncthreads();
    for (int k = 0; k < steps; k++) {
        if (k + 1 < steps) tile[(k + 1) & 1][t] = source[(k + 1) * 128 + t];
        sum += tile[k & 1][(t + 1) % 128] - tile[k & 1][t];
        __syncthreads();
    }
    out[blockIdx.x * 128 + t] = sum;
}
