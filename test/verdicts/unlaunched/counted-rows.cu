// expect: nearest race=proved divergence=proved
// expect: nearest precondition "most >= 1"
// expect: nearest silent
// expect: nearest_while race=proved divergence=proved
// expect: nearest_while silent
// expect: nearest_equal race=proved divergence=proved
// expect: nearest_equal silent
// expect: nearest_equal precondition "most >= 1"
// expect: by_twos race=race divergence=proved
// expect: by_twos finding race/global error on out lines 66
// expect: tested_late race=race divergence=proved
// expect: tested_late finding race/global error on out lines 81
// expect: of_other race=race divergence=proved
// expect: of_other finding race/global error on out lines 96
//
// Each thread fills its own row with what it finds, and stops at the end of the row.

__global__ void nearest(const float* at, int n, float radius, int most, int* out) {
    int p = blockIdx.x * blockDim.x + threadIdx.x;
    if (p >= n)
        return;
    int found = 0;
    for (int k = 0; k < n; k++) {
        if (at[k] < radius) {
            out[p * most + found] = k;
            found++;
            if (found >= most)
                break;
        }
    }
}

__global__ void nearest_while(const float* at, int n, float radius, int most, int* out) {
    int p = blockIdx.x * blockDim.x + threadIdx.x;
    if (p >= n)
        return;
    int found = 0, k = 0;
    while (found < most && k < n) {
        if (at[k] < radius)
            out[p * most + found++] = k;
        k++;
    }
}

// The row ends where the number is equal to its length.
__global__ void nearest_equal(const float* at, int n, float radius, int most, int* out) {
    int p = blockIdx.x * blockDim.x + threadIdx.x;
    if (p >= n)
        return;
    for (int k = 0, found = 0; k < n; k++) {
        if (at[k] < radius) {
            out[p * most + found] = k;
            if (++found == most)
                break;
        }
    }
}

// Two elements at once pass over the end.
__global__ void by_twos(const float* at, int n, float radius, int most, int* out) {
    int p = blockIdx.x * blockDim.x + threadIdx.x;
    if (p >= n)
        return;
    for (int k = 0, found = 0; k < n; k++) {
        if (at[k] < radius) {
            out[p * most + found] = k;
            found += 2;
            if (found == most)
                break;
        }
    }
}

// The number is compared before it grows.
__global__ void tested_late(const float* at, int n, float radius, int most, int* out) {
    int p = blockIdx.x * blockDim.x + threadIdx.x;
    if (p >= n)
        return;
    for (int k = 0, found = 0; k < n; k++) {
        if (at[k] < radius) {
            out[p * most + found] = k;
            if (found >= most)
                break;
            found++;
        }
    }
}

// Another number is compared.
__global__ void of_other(const float* at, int n, float radius, int most, int* out) {
    int p = blockIdx.x * blockDim.x + threadIdx.x;
    if (p >= n)
        return;
    for (int k = 0, found = 0, tried = 0; k < n; k++) {
        if (at[k] < radius) {
            out[p * most + found] = k;
            found++;
            if (at[k] < 0 && ++tried >= most)
                break;
        }
    }
}
