// expect: scatter<1> race=race divergence=proved finding race/global lines 10,10
// expect: scatter<2> race=proved divergence=proved
//
// Right for one instance only.

// selvage: block=128 grid=4
template <int STEP>
__global__ void scatter(const float* in, float* out) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i * STEP / 2] = in[i];
}

template __global__ void scatter<1>(const float*, float*);
template __global__ void scatter<2>(const float*, float*);
