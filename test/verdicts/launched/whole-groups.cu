// expect: whole_groups race=proved divergence=proved
// expect: whole_groups silent
// expect: groups_and_rest race=race divergence=proved
// expect: groups_and_rest finding race/global warning on y lines 19 when "gridDim.z > groups * each"
// expect: shuffled_groups race=proved divergence=proved
// expect: shuffled_groups silent
// expect: shuffled_groups precondition "groups >= 1"
// expect: shuffled_groups precondition "groups * each >= gridDim.z"
//
// Channels in groups: the launch covers all channels, the kernel addresses those of whole groups.

__global__ void whole_groups(float* y, const float* x, int groups, int each, int size) {
    int at = blockIdx.x * 256 + threadIdx.x, image = blockIdx.y, channel = blockIdx.z;
    if (at < size) y[(image * (groups * each) + channel) * size + at] = x[channel * size + at];
}

__global__ void groups_and_rest(float* y, const float* x, int groups, int each, int size) {
    int at = blockIdx.x * 256 + threadIdx.x, image = blockIdx.y, channel = blockIdx.z;
    if (at < size) y[(image * (groups * each) + channel) * size + at] = x[channel * size + at];
}

// Divides by the number of groups, so launches must have several channels for each of several groups.
__global__ void shuffled_groups(float* y, const float* x, int groups, int each, int size) {
    int all = groups * each, at = blockIdx.x * 256 + threadIdx.x, image = blockIdx.y;
    int group = blockIdx.z % groups, channel = blockIdx.z / groups;
    if (at < size) y[(image * all + blockIdx.z) * size + at] = x[(image * all + group * each + channel) * size + at];
}

void run(float* y, const float* x, int images, int channels, int groups, int size) {
    int each = channels / groups;
    dim3 grid((size + 255) / 256, images, channels);
    groups_and_rest<<<grid, 256>>>(y, x, groups, each, size);
    if (channels % groups != 0) return;
    whole_groups<<<grid, 256>>>(y, x, groups, each, size);
    shuffled_groups<<<grid, 256>>>(y, x, groups, each, size);
}
