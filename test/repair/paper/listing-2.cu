// expect: even_only repaired +0 -1
// expect: lower_half repaired +1 -1
//
// After the paper's Listing 2: only some threads come to the barrier. In the first kernel no thread needs it; in the
// second one they do.

// selvage: block=64 grid=1
__global__ void even_only(int* A) {
    if (threadIdx.x % 2 == 0) {
        int temp = A[threadIdx.x + 1];
        __syncthreads();
        A[threadIdx.x] = temp;
    }
}

// selvage: block=64 grid=1
__global__ void lower_half(int* A) {
    if (threadIdx.x < 32) {
        int temp = A[threadIdx.x + 1];
        __syncthreads();
        A[threadIdx.x] = temp;
    }
}
