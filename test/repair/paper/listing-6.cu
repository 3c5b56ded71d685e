// expect: last_one_wins unrepairable
// because: several threads execute the same access on line 8 to the same element, and no barrier can separate them
//
// After the paper's Listing 6: all threads write one element, and no barrier separates threads of one access.

// selvage: block=64 grid=1
__global__ void last_one_wins(int* A) {
    A[0] = threadIdx.x;
}
