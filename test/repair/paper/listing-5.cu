// expect: shift_in_place repaired +1 -0
//
// After the paper's Listing 5: load and store in one statement.

// selvage: block=64 grid=1
__global__ void shift_in_place(int* A) {
    int tid = threadIdx.x;
    A[tid] = A[tid + 1];
}
