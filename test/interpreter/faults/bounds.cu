// run: global_past_end block=32 args(out=int32[31]:zeros) expect=out-of-bounds line 15
// run: global_before_start block=32 args(out=int32[32]:zeros) expect=out-of-bounds line 19
// run: global_guarded block=32 grid=2 args(out=int32[50]:zeros, n=50) expect=clean
// run: shared_past_end block=64 args(out=int32[64]:zeros) expect=out-of-bounds line 32
// run: dynamic_shared_too_small block=64 shared=128 args(out=int32[64]:zeros) expect=out-of-bounds line 37
// run: misaligned_word block=4 args(out=uint8[32]:zeros) expect=misaligned line 42
// run: misaligned_double_word block=4 args(out=int32[32]:zeros) expect=misaligned line 46
// run: null_pointer block=1 args(out=int32[1]:zeros) build=verification expect=out-of-bounds line 51
// run: index_from_data block=8 args(index=int32[8]:[0,1,2,3,4,5,9,7], out=int32[8]:zeros) expect=out-of-bounds line 55
// run: atomic_past_end block=8 args(out=int32[4]:zeros) expect=out-of-bounds line 59
//
// Accesses outside of what was allocated, or not on a multiple of their size.

__global__ void global_past_end(int* out) {
    out[threadIdx.x] = 1;
}

__global__ void global_before_start(int* out) {
    out[(int)threadIdx.x - 1] = 1;
}

__global__ void global_guarded(int* out, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = i;
}

__global__ void shared_past_end(int* out) {
    __shared__ int s[64];
    const int t = threadIdx.x;
    s[t] = t;
    __syncthreads();
    out[t] = s[t + 1];
}

__global__ void dynamic_shared_too_small(int* out) {
    extern __shared__ int dynamic[];
    dynamic[threadIdx.x] = 1;
    out[threadIdx.x] = dynamic[threadIdx.x];
}

__global__ void misaligned_word(unsigned char* out) {
    *(unsigned*)(out + 5 * threadIdx.x) = 1;
}

__global__ void misaligned_double_word(int* out) {
    *(long long*)(out + 3 * threadIdx.x) = 1;
}

__global__ void null_pointer(int* out) {
    int* nothing = out[0] == 0 ? nullptr : out;
    *nothing = 1;
}

__global__ void index_from_data(const int* index, int* out) {
    out[index[threadIdx.x]] = threadIdx.x;
}

__global__ void atomic_past_end(int* out) {
    atomicAdd(&out[threadIdx.x], 1);
}
