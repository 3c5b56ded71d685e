// run: shared_never_written block=32 args(out=int32[32]:zeros) expect=uninitialised line 9
// run: shared_half_written block=64 args(out=int32[64]:zeros) expect=uninitialised line 17
// run: shared_all_written block=64 args(out=int32[64]:zeros) expect=clean
//
// Shared memory starts with any contents.

__global__ void shared_never_written(int* out) {
    __shared__ int s[32];
    out[threadIdx.x] = s[threadIdx.x];
}

__global__ void shared_half_written(int* out) {
    __shared__ int s[64];
    const int t = threadIdx.x;
    if (t < 32) s[t] = t;
    __syncthreads();
    out[t] = s[63 - t];
}

__global__ void shared_all_written(int* out) {
    __shared__ int s[64];
    const int t = threadIdx.x;
    s[t] = t;
    __syncthreads();
    out[t] = s[63 - t];
}
