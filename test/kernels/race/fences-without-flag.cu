// expect: handed_over_by_nothing race=race divergence=proved finding race/global lines 10,15

// Both sides have their fence, but the reader does not wait for the flag: it may be first.
// selvage: block=32 grid=2
__global__ void handed_over_by_nothing(int* data, int* ready, int* out) {
    if (threadIdx.x != 0) {
        return;
    }
    if (blockIdx.x == 0) {
        data[0] = 42;
        __threadfence();
        atomicAdd(ready, 1);
    } else {
        __threadfence();
        out[0] = data[0];
    }
}
