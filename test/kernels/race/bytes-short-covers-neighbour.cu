// expect: interleave race=race divergence=proved finding race/global lines 9,11
//
// The short of an even thread covers the adjacent byte of the odd one.

// selvage: block=32 grid=1
__global__ void interleave(const short* in, char* out) {
    int t = threadIdx.x;
    if (t % 2 == 0) {
        *reinterpret_cast<short*>(out + t) = in[t];
    } else {
        out[t] = t;
    }
}
