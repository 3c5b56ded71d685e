// expect: smear race=race divergence=proved finding race/global lines 8,9
//
// The scalar store of a thread lands inside the float4 of another.

// selvage: block=64 grid=1
__global__ void smear(float* data, float v) {
    int t = threadIdx.x;
    reinterpret_cast<float4*>(data)[t] = make_float4(v, v + 1, v + 2, v + 3);
    data[t + 1] = 0.0f;
}
