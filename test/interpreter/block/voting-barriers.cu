// run: count_above block=96 args(in=int32[96]:iota, out=int32[4]:zeros) expect=clean
// run: barrier_vote_orders block=64 args(in=int32[64]:iota, out=int32[64]:zeros) expect=clean
// run: vote_until_stable block=64 args(data=int32[64]:iota, out=int32[1]:zeros) expect=clean
// run: vote_until_stable_one_barrier block=64 args(data=int32[64]:iota, out=int32[1]:zeros) expect=race lines 63,65 space shared
//
// __syncthreads_count, _and and _or: barriers that also vote.

__global__ void count_above(const int* in, int* out) {
    const int v = in[threadIdx.x];
    const int count = __syncthreads_count(v >= 60);
    const int all = __syncthreads_and(v < 96);
    const int notAll = __syncthreads_and(v < 95);
    const int any = __syncthreads_or(v == 17);
    if (threadIdx.x == 5) {
        out[0] = count;
        out[1] = all != 0;
        out[2] = notAll != 0;
        out[3] = any != 0;
    }
}

__global__ void barrier_vote_orders(const int* in, int* out) {
    __shared__ int s[64];
    const int t = threadIdx.x;
    s[t] = in[t];
    const int odd = __syncthreads_count(in[t] & 1);
    out[t] = s[63 - t] + odd;
}

// Sorts by exchanging neighbours until no pair changes.
__global__ void vote_until_stable(int* data, int* out) {
    __shared__ int s[64];
    const int t = threadIdx.x;
    s[t] = data[63 - t];
    __syncthreads();
    int rounds = 0, changed = 1;
    while (changed) {
        changed = 0;
        for (int phase = 0; phase < 2; phase++) {
            if ((t & 1) == phase && t < 63 && s[t] > s[t + 1]) {
                const int larger = s[t];
                s[t] = s[t + 1];
                s[t + 1] = larger;
                changed = 1;
            }
            __syncthreads();
        }
        changed = __syncthreads_or(changed);
        rounds++;
    }
    data[t] = s[t];
    if (t == 0) *out = rounds;
}

// The vote precedes the end of the writes of the iteration: neighbours read while others write.
__global__ void vote_until_stable_one_barrier(int* data, int* out) {
    __shared__ int s[64];
    const int t = threadIdx.x;
    s[t] = data[63 - t];
    __syncthreads();
    for (int round = 0; round < 4; round++) {
        const int mine = s[t];
        const int other = s[t ^ 1];
        const int changed = __syncthreads_or(mine != other);
        s[t] = changed ? mine + other : mine;
    }
    data[t] = s[t];
    if (t == 0) *out = 4;
}
