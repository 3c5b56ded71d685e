// run: volume_shift block=8,4,2 grid=2,1,2 args(out=int32[256]:zeros) expect=clean
// run: volume_shift_same_plane block=8,4,2 grid=2,1,2 args(out=int32[256]:zeros) expect=race lines 23,23 space global
// run: tile_transpose block=16,16 grid=2,2 args(in=float32[1024]:iota, out=float32[1024]:zeros, n=32) expect=clean
// run: tile_transpose_missing_barrier block=16,16 grid=2,2 args(in=float32[1024]:iota, out=float32[1024]:zeros, n=32) expect=race lines 37,38 space shared; uninitialised line 38
// run: matrix_product block=8,8 grid=2,2 args(a=float32[256]:iota, b=float32[256]:iota, c=float32[256]:zeros, n=16) expect=clean
// run: matrix_product_missing_second_barrier block=8,8 grid=2,2 args(a=float32[256]:iota, b=float32[256]:iota, c=float32[256]:zeros, n=16) expect=race lines 62,66 lines 63,67 space shared
// run: prefix_sum block=128 shared=1024 args(data=int32[128]:iota) expect=clean
// run: prefix_sum_one_buffer block=128 shared=1024 args(data=int32[128]:iota) expect=race lines 95,96 space shared
// run: bitonic_sort block=128 args(data=uint32[128]:random(3)) expect=clean
//
// Blocks of two and three dimensions, tiles in shared memory, dynamic shared memory.

__global__ void volume_shift(int* out) {
    const int x = blockIdx.x * blockDim.x + threadIdx.x;
    const int y = threadIdx.y;
    const int z = blockIdx.z * blockDim.z + threadIdx.z;
    out[(z * 4 + y) * 16 + x] = x + 100 * y + 10000 * z;
}

__global__ void volume_shift_same_plane(int* out) {
    const int x = blockIdx.x * blockDim.x + threadIdx.x;
    const int y = threadIdx.y;
    out[y * 16 + x] = threadIdx.z;
}

__global__ void tile_transpose(const float* in, float* out, int n) {
    __shared__ float tile[16][17];
    const int x = blockIdx.x * 16 + threadIdx.x, y = blockIdx.y * 16 + threadIdx.y;
    tile[threadIdx.y][threadIdx.x] = in[y * n + x];
    __syncthreads();
    out[(blockIdx.x * 16 + threadIdx.y) * n + blockIdx.y * 16 + threadIdx.x] = tile[threadIdx.x][threadIdx.y];
}

__global__ void tile_transpose_missing_barrier(const float* in, float* out, int n) {
    __shared__ float tile[16][17];
    const int x = blockIdx.x * 16 + threadIdx.x, y = blockIdx.y * 16 + threadIdx.y;
    tile[threadIdx.y][threadIdx.x] = in[y * n + x];
    out[(blockIdx.x * 16 + threadIdx.y) * n + blockIdx.y * 16 + threadIdx.x] = tile[threadIdx.x][threadIdx.y];
}

__global__ void matrix_product(const float* a, const float* b, float* c, int n) {
    __shared__ float as[8][8], bs[8][8];
    const int tx = threadIdx.x, ty = threadIdx.y;
    const int column = blockIdx.x * 8 + tx, row = blockIdx.y * 8 + ty;
    float sum = 0;
    for (int k = 0; k < n; k += 8) {
        as[ty][tx] = a[row * n + k + tx];
        bs[ty][tx] = b[(k + ty) * n + column];
        __syncthreads();
        for (int i = 0; i < 8; i++) sum += as[ty][i] * bs[i][tx];
        __syncthreads();
    }
    c[row * n + column] = sum;
}

__global__ void matrix_product_missing_second_barrier(const float* a, const float* b, float* c, int n) {
    __shared__ float as[8][8], bs[8][8];
    const int tx = threadIdx.x, ty = threadIdx.y;
    const int column = blockIdx.x * 8 + tx, row = blockIdx.y * 8 + ty;
    float sum = 0;
    for (int k = 0; k < n; k += 8) {
        as[ty][tx] = a[row * n + k + tx];
        bs[ty][tx] = b[(k + ty) * n + column];
        __syncthreads();
        for (int i = 0; i < 8; i++) {
            const float left = as[ty][i];
            const float right = bs[i][tx];
            sum += left * right;
        }
    }
    c[row * n + column] = sum;
}

__global__ void prefix_sum(int* data) {
    extern __shared__ int buffers[];
    const int t = threadIdx.x, n = blockDim.x;
    int from = 0;
    buffers[t] = data[t];
    __syncthreads();
    for (int d = 1; d < n; d *= 2) {
        const int v = buffers[from + t] + (t >= d ? buffers[from + t - d] : 0);
        from = n - from;
        buffers[from + t] = v;
        __syncthreads();
    }
    data[t] = buffers[from + t];
}

__global__ void prefix_sum_one_buffer(int* data) {
    extern __shared__ int buffers[];
    const int t = threadIdx.x, n = blockDim.x;
    buffers[t] = data[t];
    __syncthreads();
    for (int d = 1; d < n; d *= 2) {
        const int v = t >= d ? buffers[t - d] : 0;
        buffers[t] += v;
        __syncthreads();
    }
    data[t] = buffers[t];
}

__global__ void bitonic_sort(unsigned* data) {
    __shared__ unsigned s[128];
    const unsigned t = threadIdx.x;
    s[t] = data[t];
    __syncthreads();
    for (unsigned size = 2; size <= 128; size *= 2) {
        for (unsigned d = size / 2; d > 0; d /= 2) {
            const unsigned other = t ^ d;
            if (other > t && (s[t] > s[other]) == ((t & size) == 0)) {
                const unsigned kept = s[t];
                s[t] = s[other];
                s[other] = kept;
            }
            __syncthreads();
        }
    }
    data[t] = s[t];
}
