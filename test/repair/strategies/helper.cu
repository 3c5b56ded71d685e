// expect: one repaired +1 -0
// expect: two repaired +3 -0
//
// A function that two kernels call: a repair of one of them changes the other, so their edits are one.

__device__ void turn(float* s, float* x, int t) {
    s[t] = x[t];
    x[t] = s[63 - t];
}

// selvage: block=64 grid=1
__global__ void one(float* x) {
    __shared__ float s[64];
    turn(s, x, threadIdx.x);
}

// selvage: block=64 grid=1
__global__ void two(float* x) {
    __shared__ float s[64];
    int t = threadIdx.x;
    turn(s, x, t);
    s[t] = x[t];
    x[t] = s[63 - t];
}
