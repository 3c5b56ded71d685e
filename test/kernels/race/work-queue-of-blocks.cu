// expect: queue race=proved divergence=proved
// expect: chunks race=proved divergence=proved
// expect: no_barrier_before race=race divergence=possible finding race/shared lines 45,47 finding race/shared lines 45,48
// expect: no_barrier_behind race=race divergence=possible finding race/shared lines 57,58 finding race/shared lines 57,59
// expect: few_tickets race=race divergence=proved finding race/global lines 70,70
// expect: every_second_round race=race divergence=proved finding race/global lines 83,83
// open: every_second_round race=possible divergence=proved (stores alone, through an index in memory)
// expect: first_thread_returns race=race divergence=proved finding race/global lines 96,96 finding barrier/early-exit lines 92 finding barrier/early-exit lines 94
// open: first_thread_returns race=possible divergence=proved finding barrier/early-exit lines 92 finding barrier/early-exit lines 94 (no run has the contents)
//
// Blocks take work from a queue: in each iteration thread 0 takes a ticket, publishes it, and the block works on the
// item of the ticket. No two blocks take the same ticket.

__device__ unsigned tickets;

// selvage: block=64 grid=8 arg(n=40)
__global__ void queue(int* out, unsigned n) {
    __shared__ unsigned mine;
    while (true) {
        __syncthreads();
        if (threadIdx.x == 0) mine = atomicAdd(&tickets, 1);
        __syncthreads();
        if (mine >= n) break;
        out[mine * blockDim.x + threadIdx.x] = 1;
    }
}

// selvage: block=64 grid=8
__global__ void chunks(int* out, unsigned n) {
    __shared__ unsigned first;
    for (int round = 0; round < 10; round++) {
        if (threadIdx.x == 0) first = atomicAdd(&tickets, 128);
        __syncthreads();
        for (unsigned i = threadIdx.x; i < 128; i += blockDim.x)
            if (first + i < n) out[first + i] = round;
        __syncthreads();
    }
}

// selvage: block=64 grid=8 arg(n=40)
__global__ void no_barrier_before(int* out, unsigned n) {
    __shared__ unsigned mine;
    while (true) {
        // A thread may still read the ticket of the previous iteration.
        if (threadIdx.x == 0) mine = atomicAdd(&tickets, 1);
        __syncthreads();
        if (mine >= n) break;
        out[mine * blockDim.x + threadIdx.x] = 1;
    }
}

// selvage: block=64 grid=8 arg(n=40)
__global__ void no_barrier_behind(int* out, unsigned n) {
    __shared__ unsigned mine;
    while (true) {
        __syncthreads();
        if (threadIdx.x == 0) mine = atomicAdd(&tickets, 1);
        if (mine >= n) break;
        out[mine * blockDim.x + threadIdx.x] = 1;
    }
}

// selvage: block=64 grid=8
__global__ void few_tickets(int* out) {
    __shared__ unsigned mine;
    for (int round = 0; round < 3; round++) {
        __syncthreads();
        if (threadIdx.x == 0) mine = atomicAdd(&tickets, 1) % 4;
        __syncthreads();
        out[mine * blockDim.x + threadIdx.x] += blockIdx.x;
    }
}

// selvage: block=64 grid=8
__global__ void every_second_round(int* out) {
    __shared__ unsigned mine;
    if (threadIdx.x == 0) mine = 0;
    for (int round = 0; round < 4; round++) {
        __syncthreads();
        // In the first iteration all blocks have ticket 0.
        if (threadIdx.x == 0 && round % 2 == 1) mine = atomicAdd(&tickets, 1);
        __syncthreads();
        out[mine * blockDim.x + threadIdx.x] = blockIdx.x;
    }
}

// selvage: block=64 grid=8
__global__ void first_thread_returns(int* out, const int* ends) {
    __shared__ unsigned mine;
    if (threadIdx.x == 0) mine = 0;
    for (int round = 0; round < 4; round++) {
        __syncthreads();
        if (threadIdx.x == 0) mine = atomicAdd(&tickets, 1);
        __syncthreads();
        // If thread 0 returns, the others continue with the ticket of the previous iteration.
        out[mine * blockDim.x + threadIdx.x] += blockIdx.x;
        if (ends[threadIdx.x] == round) return;
    }
}
