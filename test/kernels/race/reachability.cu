// expect: closure race=proved divergence=proved
// expect: whatever_it_was race=race divergence=proved finding race/shared lines 30,30
// expect: marked_before race=race divergence=proved finding race/shared lines 43,44 finding race/shared lines 44,44
//
// Transitive closure in place. A thread that stores has found its own element 0, and loads it again where it is the one in
// the middle: there it is not 0, so it does not store. No other thread stores to that element, so both loads give one
// value.

// selvage: block=8,8 grid=1
__global__ void closure(unsigned* edges) {
    __shared__ unsigned s[8][8];
    int x = threadIdx.x, y = threadIdx.y;
    s[y][x] = edges[y * 8 + x];
    __syncthreads();
    for (unsigned k = 0; k < 8; ++k) {
        if (s[y][x] == 0 && s[y][k] != 0 && s[k][x] != 0) s[y][x] = k + 1;
        __syncthreads();
    }
    edges[y * 8 + x] = s[y][x];
}

// selvage: block=8,8 grid=1
__global__ void whatever_it_was(unsigned* edges) {
    __shared__ unsigned s[8][8];
    int x = threadIdx.x, y = threadIdx.y;
    s[y][x] = edges[y * 8 + x];
    __syncthreads();
    for (unsigned k = 0; k < 8; ++k) {
        // The one in the middle may store as well.
        if (s[y][k] != 0 && s[k][x] != 0) s[y][x] = k + 1;
        __syncthreads();
    }
    edges[y * 8 + x] = s[y][x];
}

// selvage: block=8,8 grid=1
__global__ void marked_before(unsigned* edges) {
    __shared__ unsigned s[8][8];
    int x = threadIdx.x, y = threadIdx.y;
    s[y][x] = edges[y * 8 + x];
    __syncthreads();
    for (unsigned k = 0; k < 8; ++k) {
        if (s[y][x] == 0) s[y][x] = 100;
        if (s[y][k] != 0 && s[k][x] == 100) s[y][x] = k + 1;
        __syncthreads();
    }
    edges[y * 8 + x] = s[y][x];
}
