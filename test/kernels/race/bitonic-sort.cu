// expect: bitonic_sort race=proved divergence=proved
//
// Compare and exchange with the partner t ^ j: the lower thread of a pair does the work of both.

// selvage: block=256 grid=2
__global__ void bitonic_sort(int* data) {
    __shared__ int s[256];
    unsigned t = threadIdx.x;
    s[t] = data[blockIdx.x * 256 + t];
    __syncthreads();
    for (unsigned k = 2; k <= 256; k *= 2) {
        for (unsigned j = k / 2; j > 0; j /= 2) {
            unsigned partner = t ^ j;
            if (partner > t) {
                bool ascending = (t & k) == 0;
                int a = s[t], b = s[partner];
                if ((a > b) == ascending) {
                    s[t] = b;
                    s[partner] = a;
                }
            }
            __syncthreads();
        }
    }
    data[blockIdx.x * 256 + t] = s[t];
}
