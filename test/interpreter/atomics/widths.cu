// run: bytes_beside_each_other block=64 grid=2 args(out=uint8[128]:zeros) expect=clean
// run: byte_and_word block=32 args(out=uint8[32]:zeros) expect=race lines 20,22 space global
// run: word_over_two_shorts block=32 args(out=uint32[32]:zeros, sum=uint32[32]:zeros) expect=race lines 28,29 space global
// run: double_word_halves block=64 args(out=uint32[64]:zeros) expect=clean
// run: double_word_overlap block=32 args(out=uint32[34]:zeros) expect=race lines 43,45 space global
// run: vector_store_beside_scalar block=32 args(out=float32[160]:zeros) expect=clean
// run: vector_store_over_scalar block=32 args(out=float32[160]:zeros) expect=race lines 57,58 space global
// run: atomics_of_two_widths block=32 args(out=uint64[1]:zeros) expect=race lines 64,66 space global
// run: shared_bytes block=96 args(out=int32[96]:zeros) expect=clean
//
// Accesses of different widths race exactly where their bytes overlap; neighbouring bytes do not.

__global__ void bytes_beside_each_other(unsigned char* out) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = (unsigned char)(i + out[i]);
}

__global__ void byte_and_word(unsigned char* out) {
    if (threadIdx.x == 0) {
        *(unsigned*)(out + 4) = 0x01020304u;
    } else {
        out[threadIdx.x] = (unsigned char)threadIdx.x;
    }
}

__global__ void word_over_two_shorts(unsigned* out, unsigned* sum) {
    unsigned short* halves = (unsigned short*)out;
    halves[2 * threadIdx.x + 1] = (unsigned short)threadIdx.x;
    sum[threadIdx.x] = out[threadIdx.x ^ 1];
}

__global__ void double_word_halves(unsigned* out) {
    if (threadIdx.x < 16) {
        ((unsigned long long*)out)[threadIdx.x] = ((unsigned long long)threadIdx.x << 32) | 1u;
    } else if (threadIdx.x >= 32) {
        out[threadIdx.x] = threadIdx.x;
    }
}

__global__ void double_word_overlap(unsigned* out) {
    const unsigned t = threadIdx.x;
    if (t < 8) {
        ((unsigned long long*)out)[t] = t;
    } else {
        out[t + 1] = t;
    }
}

__global__ void vector_store_beside_scalar(float* out) {
    const int t = threadIdx.x;
    ((float4*)out)[t] = make_float4(t, t + 1, t + 2, t + 3);
    out[128 + t] = -t;
}

__global__ void vector_store_over_scalar(float* out) {
    const int t = threadIdx.x;
    ((float4*)out)[t] = make_float4(t, t + 1, t + 2, t + 3);
    out[127 + t] = -t;
}

// Both are atomic, but of different widths: neither is morally strong to the other.
__global__ void atomics_of_two_widths(unsigned long long* out) {
    if (threadIdx.x < 16) {
        atomicAdd(out, 1ull);
    } else {
        atomicAdd((unsigned*)out + 1, 1u);
    }
}

__global__ void shared_bytes(int* out) {
    __shared__ unsigned char s[96];
    const int t = threadIdx.x;
    s[t] = (unsigned char)(t * 3);
    __syncthreads();
    out[t] = s[95 - t];
}
