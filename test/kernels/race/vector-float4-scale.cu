// expect: scale4 race=proved divergence=proved

__global__ void scale4(float4* data, float alpha, int n4) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n4) {
        float4 v = data[i];
        v.x *= alpha;
        v.y *= alpha;
        v.z *= alpha;
        v.w *= alpha;
        data[i] = v;
    }
}
