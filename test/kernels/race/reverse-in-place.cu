// expect: reverse race=proved divergence=proved
// expect: reverse_all race=race divergence=proved finding race/global lines 20,22 finding race/global lines 21,21 finding race/global lines 21,22

// selvage: block=256 grid=2 arg(n=1000)
__global__ void reverse(float* a, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n / 2) {
        int j = n - 1 - i;
        float v = a[i];
        a[i] = a[j];
        a[j] = v;
    }
}

// selvage: block=256 grid=4 arg(n=1000)
__global__ void reverse_all(float* a, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        int j = n - 1 - i;
        float v = a[i];
        a[i] = a[j];
        a[j] = v;
    }
}
