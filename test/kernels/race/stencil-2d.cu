// expect: heat_step race=proved divergence=proved

// selvage: arg(nx=128) arg(ny=96)
__global__ void heat_step(const float* __restrict__ u, float* __restrict__ next, int nx, int ny, float k) {
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x > 0 && x < nx - 1 && y > 0 && y < ny - 1) {
        int i = y * nx + x;
        next[i] = u[i] + k * (u[i - 1] + u[i + 1] + u[i - nx] + u[i + nx] - 4.0f * u[i]);
    }
}
