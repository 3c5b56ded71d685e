// expect: pack race=proved divergence=proved
// expect: pack_without_barrier race=race divergence=proved finding race/shared lines 19,20
//
// Four threads fill the bytes of a word that one thread reads.

// selvage: block=256 grid=4
__global__ void pack(const unsigned char* in, unsigned int* out) {
    __shared__ unsigned int words[64];
    unsigned char* bytes = reinterpret_cast<unsigned char*>(words);
    bytes[threadIdx.x] = in[blockIdx.x * 256 + threadIdx.x];
    __syncthreads();
    if (threadIdx.x < 64) out[blockIdx.x * 64 + threadIdx.x] = words[threadIdx.x];
}

// selvage: block=256 grid=4
__global__ void pack_without_barrier(const unsigned char* in, unsigned int* out) {
    __shared__ unsigned int words[64];
    unsigned char* bytes = reinterpret_cast<unsigned char*>(words);
    bytes[threadIdx.x] = in[blockIdx.x * 256 + threadIdx.x];
    if (threadIdx.x < 64) out[blockIdx.x * 64 + threadIdx.x] = words[threadIdx.x];
}
