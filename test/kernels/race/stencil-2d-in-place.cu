// expect: relax race=race divergence=proved finding race/global lines 11,11
//
// Neighbours are read while their owners write them, within a block and across its edges.

// selvage: block=32,8 grid=4,12 arg(nx=128) arg(ny=96)
__global__ void relax(float* u, int nx, int ny) {
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x > 0 && x < nx - 1 && y > 0 && y < ny - 1) {
        int i = y * nx + x;
        u[i] = 0.25f * (u[i - 1] + u[i + 1] + u[i - nx] + u[i + nx]);
    }
}
