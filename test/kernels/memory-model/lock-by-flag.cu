// expect: until_taken race=proved divergence=proved
// expect: until_taken_or_tired race=race divergence=proved finding race/volatile lines 27,31 finding race/volatile lines 31,31 finding race/global lines 29,29
//
// A loop that a variable ends: after it the lock is held if only the exchange sets the variable.

// selvage: block=32 grid=2
__global__ void until_taken(int* lock, int* sum) {
    if (threadIdx.x != 0) return;
    bool taken = false;
    while (!taken)
        taken = atomicCAS(lock, 0, 1) == 0;
    __threadfence();
    *sum = *sum * 2 + blockIdx.x;
    __threadfence();
    *(volatile int*)lock = 0;
}

// The second try is the last.
// selvage: block=32 grid=2
__global__ void until_taken_or_tired(int* lock, int* sum) {
    if (threadIdx.x != 0) return;
    bool taken = false;
    int tries = 0;
    while (!taken) {
        tries++;
        taken =
            atomicCAS(lock, 0, 1) == 0 || tries == 2;
    }
    *sum = *sum * 2 + blockIdx.x;
    __threadfence();
    *(volatile int*)lock = 0;
}
