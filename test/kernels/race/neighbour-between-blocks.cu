// expect: shift_left race=race divergence=proved finding race/global lines 9,11
//
// The barrier orders the threads of a block; the last of them reads an element that the next block writes.

// selvage: block=256 grid=4 arg(n=1024)
__global__ void shift_left(float* a, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float v = 0.0f;
    if (i + 1 < n) v = a[i + 1];
    __syncthreads();
    a[i] = v;
}
