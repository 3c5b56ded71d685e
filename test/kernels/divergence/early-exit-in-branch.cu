// expect: all_others_left race=possible divergence=possible finding barrier/divergent lines 14 finding barrier/divergent lines 16
//
// The barrier in the branch is never reached: all threads that take it return first, which is legal. That a run sees
// returned threads does not show that threads pass a barrier by.

// selvage: block=64 grid=1
__global__ void all_others_left(int* a) {
    int t = threadIdx.x;
    int x = 0;
    if (t % 64 < 16) {
        x = 6;
    } else {
        if ((x & 15) < t) return;
        __syncthreads();
    }
    __syncthreads();
    a[t] = x;
}
