// expect: add_launched race=proved divergence=proved
//
// No annotation: the dimensions come from the launch below.

__global__ void add_launched(const int* a, const int* b, int* c) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    c[i] = a[i] + b[i];
}

void launch(const int* a, const int* b, int* c) {
    constexpr int threads = 128;
    add_launched<<<16, threads>>>(a, b, c);
}
