// expect: storedInRing race=race divergence=proved
// expect: storedInRing finding race/global warning on ring lines 37 when "n > cap"
// expect: cacheInTurns race=race divergence=proved
// expect: cacheInTurns finding race/global warning on cache lines 47 when "count > capacity"
// expect: addedToSlots race=race divergence=proved
// expect: addedToSlots finding race/global warning on slot lines 54 when "n > slots"
// expect: latestOfRing race=proved divergence=proved
// expect: latestOfRing silent
// expect: latestOfRing precondition "cap >= 1"
// expect: maskedRing race=proved divergence=proved
// expect: maskedRing silent
// expect: maskedRing precondition "(size & (size - 1)) == 0"
// expect: scaledGroups race=proved divergence=proved
// expect: scaledGroups silent
// expect: spaceToDepth race=proved divergence=proved
// expect: spaceToDepth silent
// expect: windowsOfSignal race=proved divergence=proved
// expect: windowsOfSignal silent
// expect: enlargedImage race=proved divergence=proved
// expect: enlargedImage silent
// expect: channelsToFront race=proved divergence=proved
// expect: channelsToFront silent
// expect: fourStages race=proved divergence=proved
// expect: fourStages silent
// expect: historyOfChannels race=proved divergence=proved
// expect: historyOfChannels silent
// expect: historyOfChannels precondition "cap >= 1"
// expect: turnedRows race=proved divergence=proved
// expect: turnedRows silent
//
// Rings, groups, windows and permuted layouts.

// Two elements share a slot if there are more elements than slots, which nothing here excludes.
__global__ void storedInRing(float* ring, const float* in, int n, int cap) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        ring[i % cap] = in[i];
}

// New tokens replace the oldest ones. If there are more of them than places, some come to one place.
__global__ void cacheInTurns(float* cache, const float* k, unsigned start, unsigned count, unsigned capacity,
                             unsigned hidden) {
    unsigned s = blockIdx.x;
    if (s >= count)
        return;
    for (unsigned j = threadIdx.x; j < hidden; j += blockDim.x)
        cache[(start + s) % capacity * hidden + j] = k[s * hidden + j];
}

// Each slot takes the elements with its remainder. With no more elements than slots, a slot has one.
__global__ void addedToSlots(double* slot, const double* x, int n, int slots) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        slot[i % slots] += x[i];
}

// Only the last cap elements are stored, and no two of them have the same remainder.
__global__ void latestOfRing(float* ring, const float* in, int n, int cap) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n && i >= n - cap)
        ring[i % cap] = in[i];
}

// A ring whose size is a power of two takes no more elements than it has slots.
__global__ void maskedRing(int* ring, const int* in, int head, int size) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < size)
        ring[(head + i) & (size - 1)] = in[i];
}

// Channels in groups: those of all groups are at most all channels, even if a remainder belongs to no group.
__global__ void scaledGroups(float* x, const float* scale, int channels, int groups, int size) {
    int g = blockIdx.x, image = blockIdx.y, per = channels / groups;
    if (g >= groups)
        return;
    for (int c = 0; c < per; c++)
        for (int i = threadIdx.x; i < size; i += blockDim.x)
            x[(image * channels + g * per + c) * size + i] *= scale[image * groups + g];
}

// The r x r pixels of a square go to separate planes.
__global__ void spaceToDepth(float* out, const float* in, int w, int h, int r) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y, c = blockIdx.z;
    if (x >= w || y >= h)
        return;
    for (int dy = 0; dy < r; dy++)
        for (int dx = 0; dx < r; dx++)
            out[(((c * r + dy) * r + dx) * h + y) * w + x] = in[((c * h + y) * r + dy) * (w * r) + x * r + dx];
}

// Each tap of a window has a row of the output, and the position is below the length of a row.
__global__ void windowsOfSignal(float* out, const float* in, int channelLength, int taps, int length) {
    int i = blockIdx.x * blockDim.x + threadIdx.x, c = blockIdx.y;
    if (i < length)
        for (int k = 0; k < taps; k++)
            out[(c * taps + k) * length + i] = i + k < channelLength ? in[c * channelLength + i + k] : 0.0f;
}

// A thread for each pixel of the larger image. Only the index of what it reads is divided by the factor.
__global__ void enlargedImage(float* out, const float* in, int w, int h, int factor) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    int wide = w * factor;
    if (x < wide && y < h * factor)
        out[y * wide + x] = in[y / factor * w + x / factor];
}

// From (image, row, column, channel) to (image, channel, row, column).
__global__ void channelsToFront(float* out, const float* in, unsigned images, unsigned h, unsigned w,
                                unsigned channels) {
    size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x, plane = (size_t)h * w;
    if (i < images * plane * channels) {
        size_t c = i % channels, x = i / channels % w, y = i / channels / w % h, image = i / (channels * plane);
        out[((image * channels + c) * h + y) * w + x] = in[i];
    }
}

// A ring of four stages: an iteration stores two stages ahead of the one that it reads.
__global__ void __launch_bounds__(64) fourStages(float* out, const float* in, int tiles) {
    __shared__ float stage[4][64];
    int t = threadIdx.x, size = blockDim.x;
    const float* from = in + blockIdx.x * tiles * size;
    float sum = 0.0f;
    for (int k = -2; k < tiles; k++) {
        if (k + 2 < tiles)
            stage[(k + 2) & 3][t] = from[(k + 2) * size + t];
        if (k >= 0)
            sum += stage[k & 3][size - 1 - t];
        __syncthreads();
    }
    out[blockIdx.x * size + t] = sum;
}

// Every channel has a ring of cap values, and all channels are at the same step.
// under: cap >= 1
__global__ void historyOfChannels(float* history, const float* x, int channels, int step, int cap) {
    int c = blockIdx.x * blockDim.x + threadIdx.x;
    if (c < channels)
        history[c * cap + step % cap] = x[c];
}

// The elements of a row move by k places, modulo the length: successive numbers, one for each remainder.
__global__ void turnedRows(float* out, const float* in, unsigned n, unsigned k) {
    for (unsigned i = threadIdx.x; i < n; i += blockDim.x)
        out[blockIdx.x * n + (i + k) % n] = in[blockIdx.x * n + i];
}
