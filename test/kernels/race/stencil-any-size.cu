// expect: line race=proved divergence=proved
// expect: line_in_shared race=proved divergence=proved
// expect: plane race=proved divergence=proved
// expect: plane_in_shared race=proved divergence=proved
// expect: red_and_black race=proved divergence=proved
// expect: line_halo_late race=race divergence=proved finding race/shared lines 73,76
// expect: black_and_black race=race divergence=proved finding race/global lines 85,85
//
// Stencils on lines and planes of any length, with blocks of any size: from one array to another, with the neighbours
// in shared memory, and in place by colours.

__global__ void line(const float* in, float* out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i > 0 && i < n - 1)
        out[i] = 0.25f * in[i - 1] + 0.5f * in[i] + 0.25f * in[i + 1];
}

// Room for a block and an element on either side.
__global__ void line_in_shared(const float* in, float* out, int n) {
    extern __shared__ float s[];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int t = threadIdx.x + 1;
    if (i < n) s[t] = in[i];
    if (threadIdx.x == 0 && i > 0) s[0] = in[i - 1];
    if (threadIdx.x == blockDim.x - 1 && i + 1 < n) s[t + 1] = in[i + 1];
    __syncthreads();
    if (i > 0 && i < n - 1)
        out[i] = 0.25f * s[t - 1] + 0.5f * s[t] + 0.25f * s[t + 1];
}

__global__ void plane(const float* in, float* out, int width, int height) {
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x > 0 && y > 0 && x < width - 1 && y < height - 1) {
        int at = y * width + x;
        out[at] = 0.25f * (in[at - 1] + in[at + 1] + in[at - width] + in[at + width]);
    }
}

// selvage: assume(blockDim.x <= 32 && blockDim.y <= 32)
__global__ void plane_in_shared(const float* in, float* out, int width, int height) {
    __shared__ float s[34][34];
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    int tx = threadIdx.x + 1, ty = threadIdx.y + 1;
    bool inside = x > 0 && y > 0 && x < width - 1 && y < height - 1;
    if (inside) {
        int at = y * width + x;
        s[ty][tx] = in[at];
        if (tx == 1) s[ty][0] = in[at - 1];
        if (tx == blockDim.x) s[ty][tx + 1] = in[at + 1];
        if (ty == 1) s[0][tx] = in[at - width];
        if (ty == blockDim.y) s[ty + 1][tx] = in[at + width];
    }
    __syncthreads();
    if (inside)
        out[y * width + x] = 0.25f * (s[ty][tx - 1] + s[ty][tx + 1] + s[ty - 1][tx] + s[ty + 1][tx]);
}

// Cells of one colour have neighbours of the other one only.
__global__ void red_and_black(float* a, int n, int colour) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int cell = 2 * i + 1 + colour;
    if (cell < n - 1)
        a[cell] = 0.5f * (a[cell - 1] + a[cell + 1]);
}

// selvage: block=64 grid=2 arg(n=128)
__global__ void line_halo_late(const float* in, float* out, int n) {
    __shared__ float s[66];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int t = threadIdx.x + 1;
    s[t] = in[i];
    if (threadIdx.x == 0) s[0] = i > 0 ? in[i - 1] : 0.0f;
    if (threadIdx.x == 63) s[65] = i + 1 < n ? in[i + 1] : 0.0f;
    out[i] = 0.25f * s[t - 1] + 0.5f * s[t] + 0.25f * s[t + 1];
}

// selvage: block=64 grid=2 arg(n=128)
__global__ void black_and_black(float* a, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    // Colours by the parity of the thread, and cells with a distance of one thread.
    int cell = i + 1 + (i & 1);
    if (cell < n - 1)
        a[cell] = 0.5f * (a[cell - 1] + a[cell + 1]);
}
