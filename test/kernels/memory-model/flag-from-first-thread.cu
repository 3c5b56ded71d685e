// expect: first_of_all race=proved divergence=proved
//
// One condition on two indices, which nvcc asks at once: (blockIdx.x | threadIdx.x) == 0.

// selvage: block=64 grid=2
__global__ void first_of_all(int* data, int* ready, int* out) {
    int found = 0;
    if (blockIdx.x == 0 && threadIdx.x == 0) {
        data[0] = 7;
        __threadfence();
        atomicExch(ready, 1);
    }
    if (blockIdx.x == 1 && threadIdx.x == 0) {
        while (atomicAdd(ready, 0) == 0) {
        }
        __threadfence();
        found = data[0];
    }
    out[blockIdx.x * 64 + threadIdx.x] = found;
}
