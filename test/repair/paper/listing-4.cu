// expect: shift_lower_half repaired +1 -0
//
// After the paper's Listing 4, which its tool cannot repair: load and store are under one condition, and the barrier
// between them has to be outside of it.

// selvage: block=64 grid=1
__global__ void shift_lower_half(int* A) {
    int tid = threadIdx.x;
    if (tid < 32) {
        int temp = A[tid + 1];
        A[tid] = temp;
    }
}
