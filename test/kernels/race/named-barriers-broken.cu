// expect: other_half race=race divergence=proved finding race/shared lines 21,24
// expect: wrong_way race=race divergence=proved finding race/shared lines 33,37
// expect: written_after_arriving race=race divergence=proved finding race/shared lines 47,50
// expect: read_before_waiting race=race divergence=proved finding race/shared lines 62,65
// expect: one_round_ahead race=race divergence=possible finding race/shared lines 75,79
// expect: waited_in_another_round race=race divergence=proved finding race/shared lines 95,96
// expect: sometimes_waiting race=race divergence=possible finding race/shared lines 106,110
// expect: link_missing race=race divergence=proved finding race/shared lines 119,122
// expect: half_a_warp_short race=race divergence=possible finding race/shared lines 129,131
// expect: one_name_for_two race=race divergence=possible finding race/shared lines 139,142
// open: one_name_for_two race=possible divergence=possible (which warps meet at a name that more share than it counts is open)
// expect: crossed race=possible divergence=possible
// expect: only_where_loaded race=race divergence=possible finding race/shared lines 164,166
//
// Barriers of part of a block that do not give the apparent order.

// selvage: block=64 grid=1
__global__ void other_half(int* out) {
    __shared__ int s[64];
    const int t = threadIdx.x;
    s[t] = t;
    if (t < 32) asm volatile("bar.sync 1, 32;" ::: "memory");
    else asm volatile("bar.sync 2, 32;" ::: "memory");
    out[t] = s[63 - t];
}

// The readers only arrive.
// selvage: block=64 grid=1
__global__ void wrong_way(int* out) {
    __shared__ int s[32];
    const int t = threadIdx.x;
    if (t < 32) {
        s[t] = t;
        asm volatile("bar.sync 1, 64;" ::: "memory");
    } else {
        asm volatile("bar.arrive 1, 64;" ::: "memory");
        out[t] = s[63 - t];
    }
}

// selvage: block=64 grid=1
__global__ void written_after_arriving(int* out) {
    __shared__ int s[32];
    const int t = threadIdx.x;
    if (t < 32) {
        asm volatile("bar.arrive 1, 64;" ::: "memory");
        s[t] = t;
    } else {
        asm volatile("bar.sync 1, 64;" ::: "memory");
        out[t] = s[63 - t];
    }
}

// Accesses before a wait are not ordered before accesses of other threads after their arrival.
// selvage: block=64 grid=1
__global__ void read_before_waiting(int* out) {
    __shared__ int s[32];
    const int t = threadIdx.x;
    if (t < 32) {
        asm volatile("bar.arrive 1, 64;" ::: "memory");
    } else {
        out[t] = s[63 - t];
        asm volatile("bar.sync 1, 64;" ::: "memory");
    }
    if (t < 32) s[t] = t;
}

// The next piece is written while this one is read.
// selvage: block=64 grid=1
__global__ void one_round_ahead(int* out) {
    __shared__ int s[32];
    const int t = threadIdx.x;
    for (int k = 0; k < 3; k++) {
        if (t < 32) {
            s[t] = k;
            asm volatile("bar.arrive 1, 64;" ::: "memory");
        } else {
            asm volatile("bar.sync 1, 64;" ::: "memory");
            out[t] += s[63 - t];
        }
    }
}

// A thread that skips the barrier in an earlier iteration has not waited in this one.
// selvage: block=64 grid=1
__global__ void waited_in_another_round(int* out) {
    __shared__ int s[32];
    const int t = threadIdx.x;
    for (int k = 0; k < 2; k++) {
        if (k == 0) {
            if (t < 32) asm volatile("bar.arrive 1, 64;" ::: "memory");
            else asm volatile("bar.sync 1, 64;" ::: "memory");
        }
        __syncthreads();
        if (t < 32) s[t] = k;
        else out[t] += s[63 - t];
    }
}

// No thread waits for the arriving ones unless n is large: otherwise the reads come too early.
// selvage: block=64 grid=1 arg(n=1)
__global__ void sometimes_waiting(int* out, int n) {
    __shared__ int s[32];
    const int t = threadIdx.x;
    if (t < 32) {
        s[t] = t;
        asm volatile("bar.arrive 1, 64;" ::: "memory");
    } else {
        if (n > 3) asm volatile("bar.sync 1, 64;" ::: "memory");
        out[t] = s[63 - t];
    }
}

// The first warp and the third have never synchronised.
// selvage: block=96 grid=1
__global__ void link_missing(int* out) {
    __shared__ int s[32];
    const int t = threadIdx.x;
    if (t < 32) s[t] = t;
    if (t >= 32) asm volatile("bar.sync 2, 64;" ::: "memory");
    if (t < 64) asm volatile("bar.sync 1, 64;" ::: "memory");
    if (t >= 64) out[t] = s[t - 64];
}

// selvage: block=64 grid=1
__global__ void half_a_warp_short(int* out) {
    __shared__ int s[64];
    const int t = threadIdx.x;
    s[t] = t;
    if (t < 48) asm volatile("bar.sync 1, 64;" ::: "memory");
    out[t] = s[63 - t];
}

// Two parts share a name.
// selvage: block=128 grid=1
__global__ void one_name_for_two(int* out) {
    __shared__ int s[128];
    const int t = threadIdx.x;
    s[t] = t;
    if (t < 64) asm volatile("bar.sync 1, 64;" ::: "memory");
    else asm volatile("bar.sync 1, 64;" ::: "memory");
    out[t] = s[t ^ 33];
}

// Each waits for an arrival that the other executes after its own wait.
// selvage: block=64 grid=1
__global__ void crossed(int* out) {
    const int t = threadIdx.x;
    if (t < 32) {
        asm volatile("bar.sync 1, 64;" ::: "memory");
        asm volatile("bar.arrive 2, 64;" ::: "memory");
    } else {
        asm volatile("bar.sync 2, 64;" ::: "memory");
        asm volatile("bar.arrive 1, 64;" ::: "memory");
    }
    out[t] = t;
}

// selvage: block=64 grid=1
__global__ void only_where_loaded(const int* in, int* out) {
    __shared__ int s[32];
    const int t = threadIdx.x;
    if (t < 32) {
        s[t] = t;
        if (in[t] > 0) asm volatile("bar.sync 1, 32;" ::: "memory");
        out[t] = s[31 - t];
    }
}
