// expect: two_writers repaired +1 -0
// expect: different_operations repaired +1 -0
// expect: neighbours repaired +1 -0
// alternative: two_writers: use atomic operations on lines 12, 13
//
// If only updates race, atomics are sufficient instead of a barrier, at another cost. Not if their order shows, nor
// if something else is read too.

// selvage: block=64 grid=1
__global__ void two_writers(int* total, const int* v) {
    int t = threadIdx.x;
    if (t == 0) total[0] += v[0];
    if (t == 32) total[0] += v[1];
}

// selvage: block=64 grid=1
__global__ void different_operations(int* total, const int* v) {
    int t = threadIdx.x;
    if (t == 0) total[0] += v[0];
    if (t == 32) total[0] &= v[1];
}

// selvage: block=64 grid=1
__global__ void neighbours(int* s) {
    int t = threadIdx.x;
    if (t < 32) s[t] += s[t + 32];
    if (t < 16) s[t] += s[t + 16];
}
