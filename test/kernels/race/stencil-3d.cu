// expect: heat race=proved divergence=proved
// expect: planes_in_registers race=proved divergence=proved
// expect: planes_in_shared race=proved divergence=proved
// expect: heat_in_place race=race divergence=proved finding race/global lines 61,61
// expect: planes_too_early race=race divergence=proved finding race/shared lines 70,72
// expect: halo_too_narrow race=race divergence=proved finding race/shared lines 85,86
//
// A seven-point stencil in three dimensions: from one volume to another, with the planes above and below in registers,
// and with the plane in work in shared memory.

__global__ void heat(const float* in, float* out, int nx, int ny, int nz) {
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    int z = blockIdx.z * blockDim.z + threadIdx.z;
    if (x < 1 || y < 1 || z < 1 || x >= nx - 1 || y >= ny - 1 || z >= nz - 1) return;
    int at = (z * ny + y) * nx + x;
    out[at] = in[at] + 0.1f * (in[at - 1] + in[at + 1] + in[at - nx] + in[at + nx] + in[at - nx * ny] +
                               in[at + nx * ny] - 6.0f * in[at]);
}

__global__ void planes_in_registers(const float* in, float* out, int nx, int ny, int nz) {
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= nx || y >= ny) return;
    int at = y * nx + x;
    float below = in[at], here = in[at + nx * ny];
    for (int z = 1; z < nz - 1; ++z) {
        float above = in[(z + 1) * nx * ny + at];
        out[z * nx * ny + at] = 0.25f * below + 0.5f * here + 0.25f * above;
        below = here;
        here = above;
    }
}

// selvage: block=16,8 grid=4,4 arg(nx=64) arg(ny=32)
__global__ void planes_in_shared(const float* in, float* out, int nx, int ny, int nz) {
    __shared__ float plane[10][18];
    int tx = threadIdx.x + 1, ty = threadIdx.y + 1;
    int x = blockIdx.x * 16 + threadIdx.x, y = blockIdx.y * 8 + threadIdx.y;
    int at = y * nx + x;
    for (int z = 0; z < nz; ++z) {
        plane[ty][tx] = in[at];
        if (tx == 1) plane[ty][0] = x > 0 ? in[at - 1] : 0.0f;
        if (tx == 16) plane[ty][17] = x < nx - 1 ? in[at + 1] : 0.0f;
        if (ty == 1) plane[0][tx] = y > 0 ? in[at - nx] : 0.0f;
        if (ty == 8) plane[9][tx] = y < ny - 1 ? in[at + nx] : 0.0f;
        __syncthreads();
        out[at] = plane[ty][tx - 1] + plane[ty][tx + 1] + plane[ty - 1][tx] + plane[ty + 1][tx] - 4 * plane[ty][tx];
        __syncthreads();
        at += nx * ny;
    }
}

// selvage: block=8,4,2 grid=1,2,2 arg(nx=8) arg(ny=8) arg(nz=4)
__global__ void heat_in_place(float* a, int nx, int ny, int nz) {
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    int z = blockIdx.z * blockDim.z + threadIdx.z;
    if (x < 1 || x >= nx - 1) return;
    int at = (z * ny + y) * nx + x;
    a[at] = (a[at - 1] + a[at] + a[at + 1]) / 3;
}

// selvage: block=16,8 grid=4,4 arg(nx=64) arg(ny=32) arg(nz=8)
__global__ void planes_too_early(const float* in, float* out, int nx, int ny, int nz) {
    __shared__ float plane[8][16];
    int tx = threadIdx.x, ty = threadIdx.y;
    int at = (blockIdx.y * 8 + ty) * nx + blockIdx.x * 16 + tx;
    for (int z = 0; z < nz; ++z) {
        plane[ty][tx] = in[at];
        __syncthreads();
        out[at] = plane[ty][15 - tx] - plane[7 - ty][tx];
        at += nx * ny;
    }
}

// selvage: block=16,8 grid=1 arg(n=16)
__global__ void halo_too_narrow(const float* in, float* out, int n) {
    __shared__ float plane[8][17];
    int tx = threadIdx.x, ty = threadIdx.y;
    plane[ty][tx] = in[ty * n + tx];
    __syncthreads();
    // The halo on the right of a row is the first element of the next one in an array that is 16 wide.
    float* flat = &plane[0][0];
    if (tx == 15) flat[ty * 16 + 16] = 0.0f;
    out[ty * n + tx] = flat[ty * 16 + tx] + flat[ty * 16 + tx + 1];
}
