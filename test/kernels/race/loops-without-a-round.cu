// expect: prefetch_again race=proved divergence=proved
// expect: scan_again race=proved divergence=proved
// expect: nothing_between_rounds race=race divergence=proved finding race/shared lines 45,47
// expect: first_round_of_another race=race divergence=proved finding race/shared lines 60,62
//
// Loops around loops that may have zero iterations, and then pass no barrier.

// A thread without iterations of the inner loop has not read anything either.
// selvage: block=128 grid=1
__global__ void prefetch_again(const int* in, int* out, int m, int n) {
    __shared__ int s[2][128];
    const int t = threadIdx.x;
    for (int r = m; r > 0; r--) {
        s[0][t] = in[t];
        __syncthreads();
        for (int k = 0; k < n; k++) {
            s[(k + 1) & 1][t] = in[(k + 1) * 128 + t];
            out[t] += s[k & 1][(t + 1) % 128];
            __syncthreads();
        }
    }
}

// A block of one thread does not come by the barriers of the scan.
__global__ void scan_again(int* out, int n) {
    __shared__ int s[1024];
    const int t = threadIdx.x;
    for (int r = 0; r < 3; r++) {
        s[t] = t + n;
        __syncthreads();
        for (int d = 1; d < blockDim.x; d <<= 1) {
            const int v = t >= d ? s[t - d] : 0;
            __syncthreads();
            if (t >= d) s[t] += v;
            __syncthreads();
        }
    }
}

// selvage: block=64 grid=1 arg(m=4)
__global__ void nothing_between_rounds(int* out, int m) {
    __shared__ int s[64];
    for (int r = 0; r < m; r++) {
        for (int k = 0; k < (r & 1); k++) {
            out[threadIdx.x] += s[63 - threadIdx.x];
            __syncthreads(); }
        s[threadIdx.x] = r;
        for (int k = 0; k < (r & 1); k++) __syncthreads();
    }
}

// A fact of the first iteration of one run of the inner loop need not hold in that of another.
// selvage: block=64 grid=1
__global__ void first_round_of_another(int* out, int m) {
    __shared__ int s[64];
    for (int q = 0; q < m; q++) {
        __syncthreads();
        for (int r = 0; r < m; r++) {
            for (int k = 0; k < ((r + q) & 1); k++) {
                out[threadIdx.x] += s[63 - threadIdx.x];
                __syncthreads(); }
            s[threadIdx.x] = r;
        }
    }
}
