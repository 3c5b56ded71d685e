// expect: no_barrier_in_step race=race divergence=proved finding race/shared lines 35,37 finding race/shared lines 35,38 finding race/shared lines 36,38 finding race/shared lines 37,37 finding race/shared lines 37,38 finding race/shared lines 38,38
// expect: both_partners race=race divergence=proved finding race/shared lines 17,19
// expect: barrier_of_the_lower_half race=possible divergence=divergent finding barrier/divergent lines 57
//
// Bitonic sorts of a block that exchange without a barrier between steps or from both sides of a pair, and a search
// for the least element that waits in one half.

// selvage: block=64 grid=1
__global__ void both_partners(int* data) {
    __shared__ int s[64];
    int t = threadIdx.x;
    s[t] = data[t];
    __syncthreads();
    for (int size = 2; size <= 64; size *= 2) {
        for (int step = size / 2; step > 0; step /= 2) {
            // Reads the partner's element while the partner writes it.
            int other = s[t ^ step];
            bool up = ((t & size) == 0) == ((t & step) == 0);
            if (up == (s[t] > other)) s[t] = other;
            __syncthreads();
        }
    }
    data[t] = s[t];
}

// selvage: block=64 grid=1
__global__ void no_barrier_in_step(int* data) {
    __shared__ int s[64];
    int t = threadIdx.x;
    s[t] = data[t];
    __syncthreads();
    for (int size = 2; size <= 64; size *= 2) {
        for (int step = size / 2; step > 0; step /= 2) {
            int other = t ^ step;
            if (other > t && (s[t] > s[other]) == ((t & size) == 0)) {
                int kept = s[t];
                s[t] = s[other];
                s[other] = kept;
            }
        }
        __syncthreads();
    }
    data[t] = s[t];
}

// selvage: block=64 grid=1
__global__ void barrier_of_the_lower_half(int* data) {
    __shared__ int s[64];
    int t = threadIdx.x;
    s[t] = data[t];
    __syncthreads();
    int least = s[t];
    for (int step = 32; step > 0; step /= 2) {
        int other = t ^ step;
        if (other > t) {
            least = min(least, s[other]);
            __syncthreads();
        }
    }
    data[t] = least;
}
