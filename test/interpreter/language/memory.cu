// run: initialised_globals block=8 args(out=int32[16]:zeros) expect=clean
// run: constant_tables block=16 args(out=float32[16]:zeros) expect=clean
// run: global_counter block=64 grid=2 args(out=int32[128]:zeros) expect=clean
// run: global_last_value block=64 grid=2 args(out=int32[128]:zeros) expect=race lines 48,48 lines 48,50 space global
// run: two_dynamic_arrays block=32 shared=384 args(out=float64[32]:zeros) expect=clean
// run: two_dynamic_arrays_overlap block=32 shared=384 args(out=float64[32]:zeros) expect=race lines 69,70 space shared
// run: local_array block=32 args(in=int32[32]:iota, out=int32[32]:zeros) expect=clean
// run: struct_argument block=16 args(box+0=16, box+4=3, box+8=2.0, box+12=7, out=float32[16]:zeros) expect=clean
// run: pointer_chase block=4 args(next=int32[8]:[3,0,1,5,2,7,4,6], out=int32[4]:zeros) expect=clean
// run: large_indices block=2 args(out=int64[4]:zeros) expect=clean
// run: initialised_pointers block=4 args(out=int32[4]:zeros) expect=clean
// run: linked_variables block=4 args(out=int32[4]:zeros) expect=clean
//
// Variables of the module, constants, local and dynamic shared arrays, arguments of structure type.

struct Box {
    int count;
    int step;
    float scale;
    int start;
};

__device__ int seeds[4] = {10, 20, 30, 40};
__device__ short small = -5;
__device__ int counter = 1000;
__device__ int last_value;
__constant__ float weights[4] = {0.25f, 0.5f, 1.0f, 2.0f};
__constant__ unsigned char codes[8] = {'s', 'e', 'l', 'v', 'a', 'g', 'e', 0};

__global__ void initialised_globals(int* out) {
    const int t = threadIdx.x;
    out[t] = seeds[t % 4] + small;
    out[8 + t] = codes[t];
}

__global__ void constant_tables(float* out) {
    const int t = threadIdx.x;
    out[t] = weights[t % 4] * t;
}

__global__ void global_counter(int* out) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = atomicAdd(&counter, 1) >= 1000;
}

__global__ void global_last_value(int* out) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    last_value = i;
    __syncthreads();
    out[i] = last_value;
}

__global__ void two_dynamic_arrays(double* out) {
    extern __shared__ double memory[];
    double* wide = memory;
    float* narrow = (float*)(memory + 32);
    const int t = threadIdx.x;
    wide[t] = t;
    narrow[t] = 0.5f;
    __syncthreads();
    out[t] = wide[31 - t] + narrow[31 - t];
}

__global__ void two_dynamic_arrays_overlap(double* out) {
    extern __shared__ double memory[];
    double* wide = memory;
    float* narrow = (float*)(memory + 31);
    const int t = threadIdx.x;
    wide[t] = t;
    narrow[t] = 0.5f;
    __syncthreads();
    out[t] = wide[t];
}

__global__ void local_array(const int* in, int* out) {
    int digits[10];
    for (int k = 0; k < 10; k++) digits[k] = 0;
    const int t = threadIdx.x;
    for (int k = 0; k <= t; k++) digits[in[k] % 10]++;
    out[t] = digits[in[t] % 10] * 100 + digits[9];
}

__global__ void struct_argument(Box box, float* out) {
    const int t = threadIdx.x;
    if (t < box.count) out[t] = (box.start + t * box.step) * box.scale;
}

__global__ void pointer_chase(const int* next, int* out) {
    int at = threadIdx.x;
    for (int k = 0; k < 5; k++) at = next[at];
    out[threadIdx.x] = at;
}

__global__ void large_indices(long long* out) {
    const long long big = 1ll << 33;
    const int t = threadIdx.x;
    long long* far = out - big + 2 * t;
    far[big] = big * (t + 1);
    (far + big)[1] = -big / (t + 3);
}

__device__ int* third_seed = &seeds[2];
__constant__ const short* pointers[2] = {&small, nullptr};
__device__ struct { int scale; const float* base; } weighted = {3, weights + 1};

__global__ void initialised_pointers(int* out) {
    const int t = threadIdx.x;
    out[t] = third_seed[t % 2] + (pointers[t / 2] ? *pointers[t / 2] : 1) + int(weighted.scale * weighted.base[t % 3]);
}

struct Link {
    int value;
    Link* next;
};

__device__ Link last_link = {300, nullptr};
__device__ Link second_link = {20, &last_link};
__device__ Link first_link = {1, &second_link};

__global__ void linked_variables(int* out) {
    int sum = 0;
    const Link* at = &first_link;
    for (int k = 0; k <= threadIdx.x && at; k++, at = at->next) sum += at->value;
    out[threadIdx.x] = sum;
}
