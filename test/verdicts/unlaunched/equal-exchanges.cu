// expect: exchanged_any race=proved divergence=proved
// expect: exchanged_any silent
// expect: exchanged_any assumes equal-value-writes
// expect: exchanged_other_any race=race divergence=proved
// expect: exchanged_other_any finding race/shared error on flag lines 33,35
// expect: exchanged_used_any race=race divergence=proved
// expect: exchanged_used_any finding race/shared error on flag lines 50,52
//
// An exchange whose result is unused is a store: a plain one of the same number in another thread does no harm.

__global__ void exchanged_any(float* out, const float* in) {
    __shared__ int flag;
    if (threadIdx.x == 0)
        flag = 0;
    __syncthreads();
    float value = in[blockIdx.x * blockDim.x + threadIdx.x];
    if (value < 0.0f)
        atomicExch(&flag, 1);
    else if (value > 1.0f)
        flag = 1;
    __syncthreads();
    if (flag == 1)
        out[blockIdx.x * blockDim.x + threadIdx.x] = value;
}

__global__ void exchanged_other_any(float* out, const float* in) {
    __shared__ int flag;
    if (threadIdx.x == 0)
        flag = 0;
    __syncthreads();
    float value = in[blockIdx.x * blockDim.x + threadIdx.x];
    if (value < 0.0f)
        atomicExch(&flag, 1);
    else if (value > 1.0f)
        flag = 2;
    __syncthreads();
    if (flag == 1)
        out[blockIdx.x * blockDim.x + threadIdx.x] = value;
}

// The first thread does not see another thread's value.
__global__ void exchanged_used_any(float* out, const float* in) {
    __shared__ int flag;
    if (threadIdx.x == 0)
        flag = 0;
    __syncthreads();
    float value = in[blockIdx.x * blockDim.x + threadIdx.x];
    int before = 0;
    if (value < 0.0f)
        before = atomicExch(&flag, 1);
    else if (value > 1.0f)
        flag = 1;
    __syncthreads();
    if (flag == 1)
        out[blockIdx.x * blockDim.x + threadIdx.x] = before;
}
