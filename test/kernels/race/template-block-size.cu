// expect: blocks::reduce<64, int> race=proved divergence=proved
// expect: blocks::reduce<128, float> race=proved divergence=proved
//
// The usual unrolled reduction; the block size is a template argument and fixed by the launch sites.

namespace blocks {

template <int BLOCK, typename T>
__global__ void reduce(const T* in, T* out) {
    __shared__ T s[BLOCK];
    const int t = threadIdx.x;
    s[t] = in[blockIdx.x * (BLOCK * 2) + t] + in[blockIdx.x * (BLOCK * 2) + t + BLOCK];
    __syncthreads();
    if (BLOCK >= 128) {
        if (t < 64) s[t] += s[t + 64];
        __syncthreads();
    }
    for (int half = 32; half > 0; half /= 2) {
        if (t < half) s[t] += s[t + half];
        __syncthreads();
    }
    if (t == 0) out[blockIdx.x] = s[0];
}

void launch(const int* i, int* io, const float* f, float* fo) {
    reduce<64, int><<<8, 64>>>(i, io);
    reduce<128, float><<<8, 128>>>(f, fo);
}

}  // namespace blocks
