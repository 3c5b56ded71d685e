// expect: scale_parts race=proved divergence=proved
// expect: scale_parts silent
// expect: scale_parts assumes contents
// expect: scale_parts_of_pairs race=race divergence=proved
// expect: scale_parts_of_pairs finding race/global error on out lines 51
// expect: scale_rows_of_parts race=proved divergence=proved
// expect: scale_rows_of_parts precondition "columns >= 1"
// expect: scale_rows_of_parts silent
// expect: scale_rows_of_parts assumes contents
// expect: scale_long_parts race=proved divergence=proved
// expect: scale_long_parts silent
// expect: scale_long_parts assumes contents
// expect: clear_first_of_parts race=possible divergence=proved
// expect: clear_first_of_parts finding race/global notice on out lines 76
// expect: scale_by_first_of_parts race=possible divergence=proved
// expect: scale_by_first_of_parts finding race/global notice on out lines 86,88
// expect: scale_parts_twice race=race divergence=proved
// expect: scale_parts_twice finding race/global error on out lines 97
// expect: scale_closed_parts race=possible divergence=proved
// expect: scale_closed_parts finding race/global notice on out lines 106
// expect: scale_parts_by_next_length race=race divergence=proved
// expect: scale_parts_by_next_length finding race/global warning on out lines 115
// expect: scale_parts_by_both_lengths race=possible divergence=proved
// expect: scale_parts_by_both_lengths finding race/global notice on out lines 126
// expect: scale_parts_and_halos race=race divergence=proved
// expect: scale_parts_and_halos finding race/global warning on out lines 135
// expect: scale_parts_by_last_length race=race divergence=proved
// expect: scale_parts_by_last_length finding race/global warning on out lines 144
//
// The part of a group has a start and a length, which are read at one index. Parts are assumed to be disjoint.

__global__ void scale_parts(float* out, const float* in, const int* start, const int* length, int groups) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= groups)
        return;
    const int from = start[i], count = length[i];
    float sum = 0;
    for (int k = 0; k < count; k++)
        sum += in[from + k];
    for (int k = 0; k < count; k++)
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

// Parts of rows, with a thread for each column of each group.
__global__ void scale_rows_of_parts(float* out, const int* start, const int* length, int columns, int groups) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= columns * groups)
        return;
    const int column = i % columns, group = i / columns;
    for (int k = 0; k < length[group]; k++)
        out[(start[group] + k) * columns + column] *= 2;
}

// The elements of the two arrays have different sizes.
__global__ void scale_long_parts(float* out, const long long* start, const short* length, int groups) {
    int group = blockIdx.x;
    for (int k = threadIdx.x; k < length[group]; k += blockDim.x)
        out[start[group] + k] *= 2;
}

// An empty part may start where the next one does.
__global__ void clear_first_of_parts(float* out, const int* start, const int* length, int groups) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= groups)
        return;
    out[start[i]] = 0;
    for (int k = 1; k < length[i]; k++)
        out[start[i] + k] *= 2;
}

// The first element of an empty part may belong to another one.
__global__ void scale_by_first_of_parts(float* out, const int* start, const int* length, int groups) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= groups)
        return;
    const float first = length[i] < 8 ? out[start[i]] : 0;
    for (int k = 1; k < length[i]; k++)
        out[start[i] + k] = first;
}

// Two threads have each part.
__global__ void scale_parts_twice(float* out, const int* start, const int* length, int groups) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i / 2 >= groups)
        return;
    for (int k = 0; k < length[i / 2]; k++)
        out[start[i / 2] + k] *= 2;
}

// Each part includes the element after it.
__global__ void scale_closed_parts(float* out, const int* start, const int* length, int groups) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= groups)
        return;
    for (int k = 0; k < length[i] + 1; k++)
        out[start[i] + k] *= 2;
}

// The length is that of another part.
__global__ void scale_parts_by_next_length(float* out, const int* start, const int* length, int groups) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= groups)
        return;
    for (int k = 0; k < length[i + 1]; k++)
        out[start[i] + k] *= 2;
}

// The second loop has the length of another part.
__global__ void scale_parts_by_both_lengths(float* out, float* more, const int* start, const int* length, int groups) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= groups)
        return;
    for (int k = 0; k < length[i]; k++)
        more[start[i] + k] *= 2;
    for (int k = 0; k < length[i + 1]; k++)
        out[start[i] + k] *= 2;
}

// Neither array gives the length of a part.
__global__ void scale_parts_and_halos(float* out, const int* start, const int* length, const int* halo, int groups) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= groups)
        return;
    for (int k = 0; k < length[i] + halo[i]; k++)
        out[start[i] + k] *= 2;
}

// All parts have the length of the last one.
__global__ void scale_parts_by_last_length(float* out, const int* start, const int* length, int groups) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= groups)
        return;
    for (int k = 0; k < length[groups - 1]; k++)
        out[start[i] + k] *= 2;
}
