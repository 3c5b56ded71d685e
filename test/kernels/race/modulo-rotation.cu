// expect: rotate race=proved divergence=proved
// expect: shuffle_slots race=proved divergence=proved
// expect: fold race=race divergence=proved finding race/global lines 31,31
//
// A rotation and an odd multiplier permute the slots; a small modulus folds them onto each other.

// selvage: block=128 grid=4
__global__ void rotate(const float* in, float* out, unsigned shift) {
    __shared__ float s[128];
    unsigned t = threadIdx.x;
    unsigned base = blockIdx.x * blockDim.x;
    s[t] = in[base + t];
    __syncthreads();
    out[base + t] = s[(t + shift) % 128];
}

// selvage: block=128 grid=4
__global__ void shuffle_slots(const float* in, float* out) {
    __shared__ float s[128];
    unsigned t = threadIdx.x;
    unsigned base = blockIdx.x * blockDim.x;
    s[(t * 5) & 127] = in[base + t];
    __syncthreads();
    out[base + t] = s[t];
}

// selvage: block=128 grid=4 arg(n=512)
__global__ void fold(const float* in, float* out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        out[i % 100] = in[i];
    }
}
