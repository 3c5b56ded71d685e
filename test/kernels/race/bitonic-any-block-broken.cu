// expect: without_barrier race=race divergence=proved finding race/shared lines 17,19 finding race/shared lines 19,19
// expect: both_partners race=race divergence=proved finding race/shared lines 34,36 finding race/shared lines 36,36
// expect: step_of_both race=race divergence=proved finding race/global lines 45,47 finding race/global lines 47,47
//
// The sorts of a block of any size with a barrier too few, and with both threads of a pair at work.

extern __shared__ int s[];

__global__ void without_barrier(int* data) {
    unsigned t = threadIdx.x;
    s[t] = data[blockIdx.x * blockDim.x + t];
    __syncthreads();
    for (unsigned k = 2; k <= blockDim.x; k *= 2) {
        for (unsigned j = k / 2; j > 0; j /= 2) {
            unsigned partner = t ^ j;
            if (partner > t) {
                int a = s[t], b = s[partner];
                if ((a > b) == ((t & k) == 0)) {
                    s[t] = b, s[partner] = a;
                }
            }
        }
        __syncthreads();
    }
}

__global__ void both_partners(int* data) {
    unsigned t = threadIdx.x;
    s[t] = data[blockIdx.x * blockDim.x + t];
    __syncthreads();
    for (unsigned k = 2; k <= blockDim.x; k *= 2) {
        for (unsigned j = k / 2; j > 0; j /= 2) {
            unsigned partner = t ^ j;
            int a = s[t], b = s[partner];
            if ((a > b) == ((t & k) == 0)) {
                s[t] = b, s[partner] = a;
            }
            __syncthreads();
        }
    }
}

__global__ void step_of_both(int* data, unsigned j, unsigned k) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    int mine = data[i], other = data[i ^ j];
    if ((mine > other) == ((i & k) == 0)) {
        data[i] = other, data[i ^ j] = mine;
    }
}
