// expect: shift_by_calls repaired +1 -0
//
// After the paper's Listing 7: load and store are in two functions, and the barrier is between their calls.

__device__ void put(int* A, int tid, int value) {
    A[tid] = value;
}

__device__ int next(const int* A, int tid) {
    return A[tid + 1];
}

// selvage: block=64 grid=1
__global__ void shift_by_calls(int* A) {
    int tid = threadIdx.x;
    int temp = next(A, tid);
    put(A, tid, temp);
}
