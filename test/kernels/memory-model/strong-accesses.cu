// expect: relaxed_counter race=proved divergence=proved
// expect: maximum race=proved divergence=proved
// expect: relaxed_cells race=proved divergence=proved
// expect: plain_store race=race divergence=proved finding race/global lines 21,78
// expect: store_of_block race=race divergence=proved finding race/global lines 36,36
// expect: shared_cell race=proved divergence=proved
// expect: stores_of_two_sizes race=race divergence=proved finding race/global lines 26,52
// expect: vector_and_scalar race=proved divergence=proved
// expect: index_read_strongly race=possible divergence=proved
// expect: branch_read_strongly race=possible divergence=possible finding barrier/divergent lines 120
// expect: told_by_all race=possible divergence=proved
// expect: told_by_first race=proved divergence=proved
// expect: counter_reset_strongly race=possible divergence=proved
// expect: counter_reset_behind_barrier race=proved divergence=proved
//
// Strong loads and stores do not race with each other or with atomics, if both are of the same bytes and their scopes
// reach each other. The values that they read differ between threads.

__device__ int relaxed_load(int* p) {
    int value;
    asm volatile("ld.relaxed.gpu.b32 %0, [%1];" : "=r"(value) : "l"(p) : "memory");
    return value;
}

__device__ void relaxed_store(int* p, int value) {
    asm volatile("st.relaxed.gpu.b32 [%0], %1;" ::"l"(p), "r"(value) : "memory");
}

__device__ int block_load(int* p) {
    int value;
    asm volatile("ld.relaxed.cta.b32 %0, [%1];" : "=r"(value) : "l"(p) : "memory");
    return value;
}

__device__ void block_store(int* p, int value) {
    asm volatile("st.relaxed.cta.b32 [%0], %1;" ::"l"(p), "r"(value) : "memory");
}

__device__ int plain_load(int* p) {
    int value;
    asm volatile("ld.weak.b32 %0, [%1];" : "=r"(value) : "l"(p) : "memory");
    return value;
}

__device__ int vector_sum(int* p) {
    int a, b, c, d;
    asm volatile("ld.relaxed.gpu.v4.b32 {%0, %1, %2, %3}, [%4];" : "=r"(a), "=r"(b), "=r"(c), "=r"(d) : "l"(p) : "memory");
    return a + b + c + d;
}

__device__ void wide_store(long long* p, long long value) {
    asm volatile("st.relaxed.gpu.b64 [%0], %1;" ::"l"(p), "l"(value) : "memory");
}

// selvage: block=64 grid=4
__global__ void relaxed_counter(int* count) {
    atomicAdd(count, 1);
    if (relaxed_load(count) > 10) relaxed_store(count, 0);
}

__global__ void maximum(int* largest, const int* in, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    if (relaxed_load(largest) < in[i]) atomicMax(largest, in[i]);
}

// selvage: block=64 grid=4
__global__ void relaxed_cells(int* cells, int* out) {
    int i = blockIdx.x * 64 + threadIdx.x;
    int sum = relaxed_load(&cells[i]) + relaxed_load(&cells[i + 1]);
    relaxed_store(&cells[i], sum);
    out[i] = sum;
}

// selvage: block=64 grid=4
__global__ void plain_store(int* cells, int* out) {
    int i = blockIdx.x * 64 + threadIdx.x;
    cells[i] = i;
    out[i] = relaxed_load(&cells[i + 1]);
}

// selvage: block=64 grid=4
__global__ void store_of_block(int* last) {
    if (threadIdx.x == 0)
        block_store(last, blockIdx.x);
}

__global__ void shared_cell(int* out) {
    __shared__ int cell;
    if (threadIdx.x == 0) cell = 0;
    __syncthreads();
    block_store(&cell, threadIdx.x);
    int seen = block_load(&cell);
    out[blockIdx.x * blockDim.x + threadIdx.x] = seen;
}

// selvage: block=64 grid=4
__global__ void stores_of_two_sizes(int* words) {
    int i = blockIdx.x * 64 + threadIdx.x;
    relaxed_store(&words[2 * i], i);
    wide_store((long long*)&words[2 * ((i + 1) % 256)], i);
}

// selvage: block=64 grid=4
__global__ void vector_and_scalar(int* words, int* out) {
    int i = blockIdx.x * 64 + threadIdx.x;
    relaxed_store(&words[i], i);
    out[i] = vector_sum(&words[i & ~3]);
}

// selvage: block=64 grid=4
__global__ void index_read_strongly(int* at, int* out) {
    int first = relaxed_load(at);
    relaxed_store(at, first + 1);
    out[first + blockIdx.x * 64 + threadIdx.x] = threadIdx.x;
}

// selvage: block=64 grid=4
__global__ void branch_read_strongly(int* flag, int* out) {
    if (relaxed_load(flag) == 0) __syncthreads();
    relaxed_store(flag, 1);
    out[blockIdx.x * 64 + threadIdx.x] = 1;
}

// All threads store, so that each may read the number of another.
// selvage: block=64 grid=4
__global__ void told_by_all(int* out) {
    __shared__ int number;
    block_store(&number, threadIdx.x);
    __syncthreads();
    int told = block_load(&number);
    __syncthreads();
    out[64 * blockIdx.x + (told + threadIdx.x) % 64] = told;
}

// selvage: block=64 grid=4
__global__ void told_by_first(const int* in, int* out) {
    __shared__ int number;
    if (threadIdx.x == 0) block_store(&number, in[blockIdx.x]);
    __syncthreads();
    int told = block_load(&number);
    out[64 * blockIdx.x + (told & 63 ^ threadIdx.x)] = told;
}

// Thread 0 may reset the counter after others have taken tickets from it.
// selvage: block=64 grid=1
__global__ void counter_reset_strongly(int* count, int* out) {
    if (threadIdx.x == 0) relaxed_store(count, 0);
    out[atomicAdd(count, 1)] = threadIdx.x;
}

// selvage: block=64 grid=4
__global__ void counter_reset_behind_barrier(int* out) {
    __shared__ int count, drawn[64];
    if (threadIdx.x == 0) block_store(&count, 0);
    __syncthreads();
    drawn[atomicAdd(&count, 1)] = threadIdx.x;
    __syncthreads();
    out[64 * blockIdx.x + threadIdx.x] = drawn[threadIdx.x];
}
