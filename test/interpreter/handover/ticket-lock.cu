// run: ticket_fenced block=32 grid=4 args(next=int32[1]:zeros, serving=int32[1]:zeros, log=int32[4]:zeros, count=int32[1]:zeros) seeds=3 expect=clean
// run: ticket_no_fences block=32 grid=4 args(next=int32[1]:zeros, serving=int32[1]:zeros, log=int32[4]:zeros, count=int32[1]:zeros) seeds=3 expect=race lines 22,22 space global
// run: ticket_plain_serving block=32 grid=4 args(next=int32[1]:zeros, serving=int32[1]:zeros, log=int32[4]:zeros, count=int32[1]:zeros) seeds=3 expect=race lines 30,34 lines 34,34 space global
//
// A ticket lock: the number that is served is read volatile and raised by its holder.

__global__ void ticket_fenced(int* next, volatile int* serving, int* log, int* count) {
    if (threadIdx.x != 0) return;
    const int ticket = atomicAdd(next, 1);
    while (*serving != ticket) {}
    __threadfence();
    log[*count] = ticket;
    *count = *count + 1;
    __threadfence();
    *serving = ticket + 1;
}

__global__ void ticket_no_fences(int* next, volatile int* serving, int* log, int* count) {
    if (threadIdx.x != 0) return;
    const int ticket = atomicAdd(next, 1);
    while (*serving != ticket) {}
    *count = *count + 1;
    *serving = ticket + 1;
}

// A plain store to what others spin on; the fences around it do not make it strong.
__global__ void ticket_plain_serving(int* next, int* serving, int* log, int* count) {
    if (threadIdx.x != 0) return;
    const int ticket = atomicAdd(next, 1);
    while (atomicAdd(serving, 0) != ticket) {}
    __threadfence();
    atomicAdd(count, 1);
    __threadfence();
    *serving = ticket + 1;
}
