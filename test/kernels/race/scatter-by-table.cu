// expect: scatter race=possible divergence=proved
//
// Race-free if and only if the values of the table are distinct, which the code does not specify.

// selvage: block=256 grid=4
__global__ void scatter(const int* table, const float* in, float* out) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[table[i]] = in[i];
}
