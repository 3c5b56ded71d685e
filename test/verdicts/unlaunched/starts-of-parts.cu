// expect: even_and_odd race=proved divergence=proved
// expect: even_and_odd precondition "start >= n"
// expect: even_and_odd silent
// expect: element_after race=race divergence=proved
// expect: element_after finding race/global warning on x lines 23
// expect: swapped_digits race=race divergence=proved
// expect: swapped_digits finding race/global warning on out lines 30
//
// An addend that is nothing else begins a part after the other accesses, unless both have the same index.

__global__ void even_and_odd(const float* in, float* out, int start, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    out[i] = in[i];
    out[start + 2 * i] = in[i] + 1;
}

// The addend is a distance here.
__global__ void element_after(float* x, int distance, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        x[i] += x[i + distance];
}

// The divisors have different values, although each is at least the extent below it only if they are equal.
__global__ void swapped_digits(int* out, int n, int d) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int row = i / (n * d), rest = i % (n * d);
    out[(row * n + rest % d) * d + rest / d] = i;
}
