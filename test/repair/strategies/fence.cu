// expect: guarded_sum repaired +0 -0
//
// A lock without the fences that hand memory on.

// selvage: block=32 grid=4
__global__ void guarded_sum(int* lock, int* sum, const int* x) {
    if (threadIdx.x == 0) {
        while (atomicCAS(lock, 0, 1) != 0) {
        }
        sum[0] = sum[0] * 2 + x[blockIdx.x];
        atomicExch(lock, 0);
    }
}
