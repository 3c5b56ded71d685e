// expect: one_element_each<128> race=proved divergence=proved
// expect: one_element_each<128> precondition "blockDim.x <= 128"
// expect: one_element_each<128> silent
// expect: wider_than_a_row<64> race=race divergence=proved
// expect: wider_than_a_row<64> finding race/global error on out lines 21
//
// The host program determines a scalar that the kernel does not read, since the instance has its value: representative
// launches have this value.

struct Shape {
    long long width, rows;
};

// Each thread writes one element, so a block may not have more threads than a row has elements.
template <int fixed>
__device__ void one_row(float* out, const float* in, Shape shape) {
    const int w = fixed == 0 ? shape.width : fixed;
    if (blockIdx.x >= shape.rows)
        return;
    const float own = in[blockIdx.x * w + threadIdx.x] + blockIdx.x;
    out[blockIdx.x * w + threadIdx.x] = own;
}

template <int fixed>
__global__ void one_element_each(float* out, const float* in, Shape shape) {
    one_row<fixed>(out, in, shape);
}

template <int fixed>
__global__ void wider_than_a_row(float* out, const float* in, Shape shape) {
    one_row<fixed>(out, in, shape);
}

void rows(float* out, const float* in, Shape shape, int threads) {
    if (shape.width == 128)
        one_element_each<128><<<shape.rows, threads>>>(out, in, shape);
    if (shape.width == 64)
        wider_than_a_row<64><<<shape.rows, 128>>>(out, in, shape);
}
