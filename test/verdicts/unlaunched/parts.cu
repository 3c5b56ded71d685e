// expect: scale_parts race=possible divergence=proved
// expect: scale_parts finding race/global notice on out lines 18
// expect: scale_parts_of_pairs race=race divergence=proved
// expect: scale_parts_of_pairs finding race/global error on out lines 28
//
// The part of a group has a start and a length, which are read at one index. Parts are disjoint in representative contents.

__global__ void scale_parts(float* out, const float* in, const int* start, const int* length, int groups) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= groups)
        return;
    const int from = start[i], count = length[i];
    float sum = 0;
    for (int k = 0; k < count; k++)
        sum += in[from + k];
    for (int k = 0; k < count; k++)
        // Reported until parts are assumed to be disjoint in proofs, too.
        out[from + k] += in[from + k] / sum;
}

// Two groups start at one element.
__global__ void scale_parts_of_pairs(float* out, const float* in, const int* start, const int* length, int groups) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= groups)
        return;
    const int from = start[i], count = length[i];
    for (int k = 0; k < count; k++)
        out[start[i / 2] + k] += in[from + k];
}
