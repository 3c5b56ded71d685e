// run: shared_never_written block=32 args(out=int32[32]:zeros) expect=uninitialised line 11
// run: shared_half_written block=64 args(out=int32[64]:zeros) expect=uninitialised line 19
// run: shared_all_written block=64 args(out=int32[64]:zeros) expect=clean
// run: shared_counter_not_zeroed block=32 args(out=int32[1]:zeros) expect=uninitialised line 32
// run: shared_exchanged_first block=32 args(out=int32[1]:zeros) expect=clean
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

__global__ void shared_counter_not_zeroed(int* out) {
    __shared__ int count;
    atomicAdd(&count, 1);
    __syncthreads();
    if (threadIdx.x == 0) *out = count;
}

// An exchange whose result is unused only writes.
__global__ void shared_exchanged_first(int* out) {
    __shared__ int count;
    if (threadIdx.x == 0) atomicExch(&count, 0);
    __syncthreads();
    atomicAdd(&count, 1);
    __syncthreads();
    if (threadIdx.x == 0) *out = count;
}
