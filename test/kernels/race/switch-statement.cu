// expect: colour race=proved divergence=proved
// expect: colour_shared_slot race=race divergence=proved finding race/shared lines 29,30
//
// Four cases, four disjoint slots; then two cases with a common slot.

// selvage: block=64 grid=4
__global__ void colour(const int* in, int* out) {
    __shared__ int s[256];
    int t = threadIdx.x;
    int v = in[blockIdx.x * 64 + t];
    switch (t & 3) {
        case 0: s[t] = v; break;
        case 1: s[t + 64] = v + 1; break;
        case 2: s[t + 128] = v + 2; break;
        default: s[t + 192] = v + 3; break;
    }
    __syncthreads();
    out[blockIdx.x * 64 + t] = s[t + 64 * (t & 3)];
}

// selvage: block=64 grid=4
__global__ void colour_shared_slot(const int* in, int* out) {
    __shared__ int s[64];
    int t = threadIdx.x;
    int v = in[blockIdx.x * 64 + t];
    s[t] = 0;
    __syncthreads();
    switch (t & 3) {
        case 0: s[t] = v; break;
        case 1: s[t - 1] = v + 1; break;
        default: s[t] = -v; break;
    }
    __syncthreads();
    out[blockIdx.x * 64 + t] = s[t];
}
