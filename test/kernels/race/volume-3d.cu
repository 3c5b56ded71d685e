// expect: volume_scale race=proved divergence=proved
// expect: volume_flatten race=race divergence=proved finding race/global lines 23,23
//
// Three-dimensional blocks and grid; the second kernel forgets z.

// selvage: block=8,8,4 grid=2,2,2 arg(nx=16) arg(ny=16) arg(nz=8)
__global__ void volume_scale(const float* in, float* out, int nx, int ny, int nz) {
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    int z = blockIdx.z * blockDim.z + threadIdx.z;
    if (x < nx && y < ny && z < nz) {
        int i = (z * ny + y) * nx + x;
        out[i] = 2.0f * in[i];
    }
}

// selvage: block=8,8,4 grid=2,2,2 arg(nx=16) arg(ny=16) arg(nz=8)
__global__ void volume_flatten(const float* in, float* out, int nx, int ny, int nz) {
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    int z = blockIdx.z * blockDim.z + threadIdx.z;
    if (x < nx && y < ny && z < nz) {
        out[y * nx + x] = in[(z * ny + y) * nx + x];
    }
}
