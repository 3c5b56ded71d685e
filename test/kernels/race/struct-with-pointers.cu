// expect: copy_view race=proved divergence=proved
// expect: slide_view race=race divergence=proved finding race/global lines 26,26

struct View {
    float* data;
    int width;
    int height;
};

__device__ __forceinline__ float& at(const View& v, int x, int y) {
    return v.data[y * v.width + x];
}

// selvage: block=16,16 grid=4,4 assume(from.width == 64 && to.width == 64 && to.height == 64)
__global__ void copy_view(View from, View to) {
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < to.width && y < to.height) at(to, x, y) = at(from, x, y);
}

// selvage: block=16,16 grid=4,4 assume(v.width == 64 && v.height == 64)
__global__ void slide_view(View v) {
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x + 1 < v.width && y < v.height) {
        v.data[y * v.width + x] = v.data[y * v.width + x + 1];
    }
}
