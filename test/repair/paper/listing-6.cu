// expect: last_one_wins unrepairable
// because: threads make the access of line 8 to the same element at once, and no barrier can come between them
//
// After the paper's Listing 6: all threads write one element, and no barrier gives each a moment of its own.

// selvage: block=64 grid=1
__global__ void last_one_wins(int* A) {
    A[0] = threadIdx.x;
}
