// expect: shift repaired +1 -0
//
// After the paper's Listing 1: each thread reads its neighbour's element and then writes its own.

// selvage: block=64 grid=1
__global__ void shift(int* A) {
    int temp = A[threadIdx.x + 1];
    A[threadIdx.x] = temp;
}
