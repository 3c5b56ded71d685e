// expect: both repaired +1 -2
// expect: unlike repaired +1 -2
// expect: in_a_loop repaired +1 -2
//
// A barrier in both branches: the threads of a block wait for each other at two places. One barrier replaces both.

// selvage: block=64 grid=1
__global__ void both(int* a) {
    int t = threadIdx.x;
    if (t < 32) {
        int mine = a[t + 1];
        __syncthreads();
        a[t] = mine;
    } else {
        int mine = a[t + 1];
        __syncthreads();
        a[t] = 2 * mine;
    }
}

// selvage: block=64 grid=1
__global__ void unlike(int* a, int* b) {
    __shared__ int s[64];
    int t = threadIdx.x;
    if (t < 32) {
        s[t] = b[t];
        __syncthreads();
        a[t] = s[t + 32];
    } else {
        s[t] = b[2 * t];
        b[2 * t] = 0;
        // all have stored
        __syncthreads();
        a[t] = s[t - 32];
    }
}

// selvage: block=64 grid=1
__global__ void in_a_loop(float* a, int rounds) {
    __shared__ float s[64];
    __shared__ float u[64];
    int t = threadIdx.x;
    s[t] = a[t];
    u[t] = 0;
    __syncthreads();
    for (int k = 0; k < rounds; k++) {
        float left = s[(t + 1) % 64] + u[63 - t];
        if (t % 2 == 0) {
            __syncthreads();  // all have read
            s[t] = left;
        } else {
            __syncthreads();
            u[t] = 0.5f * left;
        }
        __syncthreads();
    }
    a[t] = s[t] + u[t];
}
