// expect: shift_left race=proved divergence=proved
//
// The same shift is right when there is one block only.

// selvage: block=256 grid=1 arg(n=256)
__global__ void shift_left(float* a, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float v = 0.0f;
    if (i + 1 < n) v = a[i + 1];
    __syncthreads();
    a[i] = v;
}
