// expect: bitonic_shared race=proved divergence=proved
// expect: bitonic_halves race=proved divergence=proved
// expect: bitonic_step race=proved divergence=proved
// expect: bitonic_padded race=race divergence=proved finding race/shared lines 68,68
//
// Bitonic sorts of a block of any size: partners by xor, by halves of a block that is a power of two, and one step of a
// sort of a whole array. In the last, the block may be of another size.

extern __shared__ int s[];

__global__ void bitonic_shared(int* data) {
    unsigned t = threadIdx.x;
    s[t] = data[blockIdx.x * blockDim.x + t];
    __syncthreads();
    for (unsigned k = 2; k <= blockDim.x; k *= 2) {
        for (unsigned j = k / 2; j > 0; j /= 2) {
            unsigned partner = t ^ j;
            if (partner > t) {
                int a = s[t], b = s[partner];
                if ((a > b) == ((t & k) == 0)) {
                    s[t] = b;
                    s[partner] = a;
                }
            }
            __syncthreads();
        }
    }
    data[blockIdx.x * blockDim.x + t] = s[t];
}

// selvage: grid=8 assume((blockDim.x & (blockDim.x - 1)) == 0)
__global__ void bitonic_halves(int* data, int ascending) {
    unsigned t = threadIdx.x, base = 2 * blockIdx.x * blockDim.x;
    s[t] = data[base + t];
    s[t + blockDim.x] = data[base + t + blockDim.x];
    for (unsigned size = 2; size <= 2 * blockDim.x; size <<= 1) {
        for (unsigned stride = size / 2; stride > 0; stride >>= 1) {
            __syncthreads();
            unsigned at = 2 * t - (t & (stride - 1));
            int a = s[at], b = s[at + stride];
            bool up = ((t & (size / 2)) == 0) == (ascending != 0);
            s[at] = up ? min(a, b) : max(a, b);
            s[at + stride] = up ? max(a, b) : min(a, b);
        }
    }
    __syncthreads();
    data[base + t] = s[t];
    data[base + t + blockDim.x] = s[t + blockDim.x];
}

__global__ void bitonic_step(int* data, unsigned j, unsigned k) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned partner = i ^ j;
    if (partner > i && (data[i] > data[partner]) == ((i & k) == 0)) {
        int kept = data[i];
        data[i] = data[partner];
        data[partner] = kept;
    }
}

// selvage: grid=1
__global__ void bitonic_padded(int* data) {
    unsigned t = threadIdx.x;
    for (unsigned stride = blockDim.x; stride > 0; stride >>= 1) {
        unsigned at = 2 * t - (t & (stride - 1));
        int a = s[at];
        __syncthreads();
        s[at + stride] = a;
        __syncthreads();
    }
    data[t] = s[t];
}
