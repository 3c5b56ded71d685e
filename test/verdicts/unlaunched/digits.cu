// expect: heads_first race=proved divergence=proved
// expect: heads_first precondition "tokens >= 1"
// expect: heads_first precondition "heads >= 1"
// expect: heads_first precondition "size >= 1"
// expect: heads_first silent
// expect: heads_first_short race=race divergence=proved
// expect: heads_first_short finding race/global error on out lines 48
// expect: three_of_each race=proved divergence=proved
// expect: three_of_each silent
// expect: three_in_two race=race divergence=proved
// expect: three_in_two finding race/global error on all lines 82,84
// expect: planes_last race=proved divergence=proved
// expect: planes_last precondition "planes >= 1"
// expect: planes_last precondition "height >= 1"
// expect: planes_last precondition "width >= 1"
// expect: planes_last silent
// expect: planes_unbounded race=race divergence=proved
// expect: planes_unbounded finding race/global warning on out lines 102
// expect: pairs_of_columns race=race divergence=proved
// expect: pairs_of_columns finding race/global error on out lines 111,112
//
// An index is taken apart by sizes that only the launch knows, and put together again in another order.

__global__ void heads_first(float* out, const float* in, int batch, int tokens, int heads, int size) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < batch * heads * tokens * size) {
        int b = i / (heads * tokens * size);
        int rest = i % (heads * tokens * size);
        int h = rest / (tokens * size);
        rest = rest % (tokens * size);
        int t = rest / size;
        int e = rest % size;
        out[b * tokens * heads * size + t * heads * size + h * size + e] = in[i];
    }
}

// The weight of a head is too small.
// selvage: block=64 grid=2 arg(batch=2) arg(tokens=3) arg(heads=4) arg(size=5)
__global__ void heads_first_short(float* out, const float* in, int batch, int tokens, int heads, int size) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < batch * heads * tokens * size) {
        int b = i / (heads * tokens * size);
        int rest = i % (heads * tokens * size);
        int h = rest / (tokens * size);
        rest = rest % (tokens * size);
        int t = rest / size;
        int e = rest % size;
        out[b * tokens * heads * size + t * heads + h * size + e] = in[i];
    }
}

// Queries, keys and values lie beside each other in each token.
// selvage: block=64 grid=2 arg(batch=2) arg(tokens=3) arg(heads=4) arg(size=5)
__global__ void three_of_each(float* all, const float* q, const float* k, const float* v, int batch, int tokens, int heads, int size) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < batch * heads * tokens * size) {
        int b = i / (heads * tokens * size);
        int rest = i % (heads * tokens * size);
        int h = rest / (tokens * size);
        rest = rest % (tokens * size);
        int t = rest / size;
        int e = rest % size;
        int at = b * tokens * 3 * heads * size + t * 3 * heads * size + h * size + e;
        all[at] += q[i];
        all[at + heads * size] += k[i];
        all[at + 2 * heads * size] += v[i];
    }
}

// There is room for two.
// selvage: block=64 grid=2 arg(batch=2) arg(tokens=3) arg(heads=4) arg(size=5)
__global__ void three_in_two(float* all, const float* q, const float* k, const float* v, int batch, int tokens, int heads, int size) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < batch * heads * tokens * size) {
        int b = i / (heads * tokens * size);
        int rest = i % (heads * tokens * size);
        int h = rest / (tokens * size);
        rest = rest % (tokens * size);
        int t = rest / size;
        int e = rest % size;
        int at = b * tokens * 2 * heads * size + t * 2 * heads * size + h * size + e;
        all[at] += q[i];
        all[at + heads * size] += k[i];
        all[at + 2 * heads * size] += v[i];
    }
}

// Unsigned sizes of 64 bits.
__global__ void planes_last(float* out, const float* in, unsigned long long planes, unsigned long long height, unsigned long long width) {
    unsigned long long i = blockIdx.x * (unsigned long long)blockDim.x + threadIdx.x;
    if (i < planes * height * width) {
        unsigned long long x = i % width, y = i / width % height, p = i / (width * height);
        out[(y * width + x) * planes + p] = in[i];
    }
}

// Nothing bounds the plane.
__global__ void planes_unbounded(float* out, const float* in, int n, int planes, int height, int width) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        int x = i % width, y = i / width % height, p = i / (width * height);
        out[(y * width + x) * planes + p] = in[i];
    }
}

// Two elements at a time, one of which belongs to the next thread.
__global__ void pairs_of_columns(float* out, const float* in, int rows, int columns) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < rows * columns) {
        int r = i / columns, c = i % columns;
        out[c * rows + r] = in[i];
        out[c * rows + r + 1] = 0.0f;
    }
}
