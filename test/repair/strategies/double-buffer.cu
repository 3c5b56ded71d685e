// expect: tiled repaired +1 -0
// expect: kept repaired +1 -0
// alternative: tiled: use two copies of `tile` alternately, one in each iteration of the loop on line 13
//
// If each iteration fills an array before it reads it, two copies replace the barrier at the end of the body. Not
// if an iteration reads values of an earlier one.

// selvage: block=64 grid=4
__global__ void tiled(float* out, const float* in, int tiles) {
    __shared__ float tile[64];
    float sum = 0.0f;
    // from left to right
    for (int k = 0; k < tiles; k++) {
        tile[threadIdx.x] = in[k * 256 + blockIdx.x * 64 + threadIdx.x];
        __syncthreads();
        sum += tile[63 - threadIdx.x];
    }
    out[blockIdx.x * 64 + threadIdx.x] = sum;
}

// selvage: block=64 grid=4
__global__ void kept(float* out, const float* in, int parts) {
    __shared__ float ring[128];
    float sum = 0.0f;
    for (int k = 0; k < parts; k++) {
        ring[(k & 1) * 64 + threadIdx.x] = in[k * 256 + blockIdx.x * 64 + threadIdx.x];
        __syncthreads();
        sum += ring[63 - threadIdx.x] - ring[127 - threadIdx.x];
    }
    out[blockIdx.x * 64 + threadIdx.x] = sum;
}
