// expect: reset_and_count race=race divergence=proved finding race/global lines 9,11
//
// Thread 0 of each block resets the counter that the others already use.

// selvage: block=128 grid=2
__global__ void reset_and_count(const float* in, unsigned int* counter, float* out) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i == 0) {
        *counter = 0;
    }
    unsigned int ticket = atomicInc(counter, 0xffffffffu);
    out[i] = in[i] + ticket;
}
