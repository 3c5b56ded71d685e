// expect: walsh_hadamard race=proved divergence=proved
// expect: walsh_masks race=proved divergence=proved
// expect: exchange race=proved divergence=proved
// expect: walsh_odd_block race=race divergence=proved finding race/shared lines 58,59 finding race/shared lines 59,59
// expect: exchange_in_place race=race divergence=proved finding race/shared lines 70,70
//
// Butterflies through shared memory for a block of any size that is a power of two: the pairs of a stage by a stride that
// halves, by a mask that doubles, and by xor. The last two lack the power of two, and the barrier between read and write.

extern __shared__ float s[];

// selvage: grid=16 assume((blockDim.x & (blockDim.x - 1)) == 0)
__global__ void walsh_hadamard(float* data) {
    unsigned t = threadIdx.x, base = 2 * blockIdx.x * blockDim.x;
    for (unsigned i = t; i < 2 * blockDim.x; i += blockDim.x) s[i] = data[base + i];
    for (unsigned stride = blockDim.x; stride >= 1; stride >>= 1) {
        __syncthreads();
        unsigned low = t & (stride - 1);
        unsigned first = ((t - low) << 1) + low, second = first + stride;
        float a = s[first], b = s[second];
        s[first] = a + b;
        s[second] = a - b;
    }
    __syncthreads();
    for (unsigned i = t; i < 2 * blockDim.x; i += blockDim.x) data[base + i] = s[i];
}

__global__ void walsh_masks(float* data) {
    unsigned t = threadIdx.x;
    s[t] = data[t];
    for (unsigned mask = 1; mask < blockDim.x; mask <<= 1) {
        __syncthreads();
        if ((t & mask) == 0) {
            float a = s[t], b = s[t | mask];
            s[t] = a + b;
            s[t | mask] = a - b;
        }
    }
}

__global__ void exchange(float* out) {
    unsigned t = threadIdx.x;
    s[t] = t;
    __syncthreads();
    for (unsigned mask = 16; mask > 0; mask /= 2) {
        float other = s[t] * 2.0f;
        __syncthreads();
        s[t ^ mask] = other;
        __syncthreads();
    }
    out[blockIdx.x * blockDim.x + t] = s[t];
}

__global__ void walsh_odd_block(float* data) {
    unsigned t = threadIdx.x;
    for (unsigned stride = blockDim.x; stride >= 1; stride >>= 1) {
        unsigned low = t & (stride - 1), first = ((t - low) << 1) + low;
        float a = s[first], b = s[first + stride];
        s[first] = a + b, s[first + stride] = a - b;
        __syncthreads();
    }
    data[t] = s[t];
}

__global__ void exchange_in_place(float* out) {
    unsigned t = threadIdx.x;
    s[t] = t;
    __syncthreads();
    for (unsigned mask = 16; mask > 0; mask /= 2) {
        s[t] = s[t ^ mask] + s[t];
        __syncthreads();
    }
    out[blockIdx.x * blockDim.x + t] = s[t];
}
