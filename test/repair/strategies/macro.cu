// Statements of a macro race with each other: its use is expanded, with a barrier between them.
// expect: shift repaired +1 -0
// expect: rotate repaired +1 -0
// because: write out the macro `STEP` on line 15, and add `__syncthreads()` after line
// because: write out the macro `ROTATE` on line 20, and add `__syncthreads()` after line
#define STEP(a, t) { int mine = a[(t) + 1]; a[t] = mine; }
#define ROTATE(a, n)                                                     \
    do {                                                                 \
        int taken = a[(threadIdx.x + n) % 64];                           \
        a[threadIdx.x] = taken;                                          \
    } while (0)

// selvage: block=64 grid=1
__global__ void shift(int* a) {
    STEP(a, threadIdx.x)
}

// selvage: block=64 grid=1
__global__ void rotate(int* a, int n) {
    ROTATE(a, -n);
    a[threadIdx.x] += 1;
}
