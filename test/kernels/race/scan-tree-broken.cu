// expect: down_without_barrier race=race divergence=proved finding race/shared lines 18,20 finding race/shared lines 19,19 finding race/shared lines 19,20 finding race/shared lines 20,20
// expect: root_not_cleared_in_time race=race divergence=proved finding race/shared lines 34,37 finding race/shared lines 34,38
// expect: in_place_one_barrier race=race divergence=proved finding race/shared lines 52,52
// expect: one_buffer_of_two race=race divergence=proved finding race/shared lines 65,65
// expect: barrier_for_active_threads race=possible divergence=divergent finding barrier/divergent lines 83
//
// Prefix sums up and down a tree, and step by step, with a slip each.

// selvage: block=32 grid=2
__global__ void down_without_barrier(int* data) {
    __shared__ int s[64];
    int t = threadIdx.x;
    s[t] = data[t];
    s[t + 32] = data[t + 32];
    __syncthreads();
    for (int threads = 1, distance = 32; threads < 64; threads *= 2, distance /= 2) {
        if (t < threads) {
            int left = s[distance * (2 * t + 1) - 1];
            s[distance * (2 * t + 1) - 1] = s[distance * (2 * t + 2) - 1];
            s[distance * (2 * t + 2) - 1] += left;
        }
    }
    __syncthreads();
    data[64 + blockIdx.x * 64 + t] = s[t];
}

// selvage: block=32 grid=1
__global__ void root_not_cleared_in_time(int* data) {
    __shared__ int s[64];
    int t = threadIdx.x;
    s[2 * t] = data[2 * t];
    s[2 * t + 1] = data[2 * t + 1];
    __syncthreads();
    if (t == 5) s[63] = 0;
    if (t == 0) {
        int left = s[31];
        s[31] = s[63];
        s[63] += left;
    }
    __syncthreads();
    data[2 * t] = s[2 * t];
    data[2 * t + 1] = s[2 * t + 1];
}

// selvage: block=64 grid=1
__global__ void in_place_one_barrier(int* data) {
    __shared__ int s[64];
    int t = threadIdx.x;
    s[t] = data[t];
    __syncthreads();
    for (int distance = 1; distance < 64; distance *= 2) {
        if (t >= distance) s[t] += s[t - distance];
        __syncthreads();
    }
    data[t] = s[t];
}

// selvage: block=64 grid=1
__global__ void one_buffer_of_two(int* data) {
    __shared__ int s[2][64];
    int t = threadIdx.x, from = 0;
    s[0][t] = data[t];
    __syncthreads();
    for (int distance = 1; distance < 64; distance *= 2) {
        s[from][t] = s[from][t] + (t >= distance ? s[from][t - distance] : 0);
        from = 1 - from;
        s[from][t] = s[1 - from][t];
        __syncthreads();
    }
    data[t] = s[from][t];
}

// selvage: block=64 grid=1
__global__ void barrier_for_active_threads(int* data) {
    __shared__ int s[64];
    int t = threadIdx.x;
    s[t] = data[t];
    __syncthreads();
    int sum = s[t];
    for (int distance = 1; distance < 64; distance *= 2) {
        if (t >= distance) {
            sum += s[t - distance];
            __syncthreads();
        }
    }
    data[t] = sum;
}
