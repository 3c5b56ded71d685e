// expect: normalise race=race divergence=proved finding race/shared lines 14,17
//
// The barrier is at the head of the loop, so the last step and the read by all threads share an interval.

// selvage: block=256 grid=16
__global__ void normalise(const float* in, float* out) {
    __shared__ float sum[256];
    int t = threadIdx.x;
    int i = blockIdx.x * 256 + t;
    sum[t] = in[i];

    for (int s = 128; s > 0; s /= 2) {
        __syncthreads();
        if (t < s) sum[t] += sum[t + s];
    }

    out[i] = in[i] / sum[0];
}
