// expect: in_order repaired +1 -0
// expect: choice repaired +1 -0
// expect: chain repaired +1 -0
// expect: declared repaired +1 -0
// expect: arguments repaired +1 -0
// expect: declared_by_call repaired +1 -0
// expect: two_declared repaired +1 -0
// expect: comma repaired +1 -0
// expect: bare_body repaired +2 -0
//
// The barrier is inside of a statement: the evaluations before it keep their order.

__host__ __device__ int bump(int* c) {
    c[0] += 3;
    return c[0];
}

// The call is evaluated before the left side is read.
// selvage: block=64 grid=1
__global__ void in_order(int* s, int* mine) {
    int t = threadIdx.x;
    s[t] += bump(mine + t) + s[(t + 1) % 64];
}

// selvage: block=64 grid=1
__global__ void choice(float* s) {
    int t = threadIdx.x;
    s[t] = t > 0 ? s[t - 1] : 0.5f;
}

// selvage: block=64 grid=1
__global__ void chain(int* s, int* out) {
    int t = threadIdx.x;
    int x;
    x = s[t] = s[(t + 1) % 64] + 1;
    out[t] = x;
}

// selvage: block=64 grid=1
__global__ void declared(int* s, int* out) {
    int t = threadIdx.x;
    const int x = s[t] = s[(t + 1) % 64];
    out[t] = x;
}

__device__ int get(const int* s, int at) {
    return s[at % 64];
}

__device__ int put(int* s, int at, int value) {
    s[at] = value;
    return value + 1;
}

// selvage: block=64 grid=1
__global__ void arguments(int* s) {
    int t = threadIdx.x;
    put(s, t, get(s, t + 1) * 2);
}

// selvage: block=64 grid=1
__global__ void declared_by_call(int* s, int* out) {
    int t = threadIdx.x;
    int x = put(s, t, get(s, t + 1));
    out[t] = x;
}

// selvage: block=64 grid=1
__global__ void two_declared(int* s, int* out) {
    int t = threadIdx.x;
    int a = s[(t + 1) % 64], b = put(s, t, a);
    out[t] = b;
}

// selvage: block=64 grid=1
__global__ void comma(int* s) {
    int t = threadIdx.x, a;
    a = s[(t + 1) % 64], s[t] = a;
}

// selvage: block=64 grid=1
__global__ void bare_body(int* s, int n) {
    int t = threadIdx.x;
    for (int i = 0; i < n; i++)
        put(s, t, get(s, t + 1));
    s[t] = 0;
}
