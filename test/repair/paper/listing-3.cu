// expect: mark_small repaired +1 -0
//
// After the paper's Listing 3: the store is in a function and under a condition, so the barrier has to precede that.

__device__ void store_fifty(int* A, int index) {
    A[index] = 50;
}

// selvage: block=64 grid=1
__global__ void mark_small(int* A) {
    int temp = A[threadIdx.x + 1];
    if (temp < 50) {
        store_fifty(A, threadIdx.x);
    }
}
