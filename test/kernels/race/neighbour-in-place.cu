// expect: shift_left race=race divergence=proved finding race/global lines 7,7

// selvage: block=256 grid=4 arg(n=1024)
__global__ void shift_left(float* a, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i + 1 < n) {
        a[i] = a[i + 1];
    }
}
