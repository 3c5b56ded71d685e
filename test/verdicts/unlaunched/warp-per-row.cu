// expect: warp_row_any race=proved divergence=proved
// expect: warp_row_any silent
// expect: warp_row_any precondition "blockDim.x % 32 == 0"
// expect: warp_row_overlap_any race=race divergence=proved
// expect: warp_row_overlap_any finding race/global error on a lines 24
// expect: warp_stage_any race=proved divergence=proved
// expect: warp_stage_any silent
// expect: warp_stage_unordered_any race=race divergence=proved
// expect: warp_stage_unordered_any finding race/shared error on s lines 39,40

// In a block of 48 threads the second half of warp 1 would belong to the next block.
__global__ void warp_row_any(float* a, int rows, int n) {
    int row = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
    if (row < rows)
        for (int i = lane; i < n; i += 32)
            a[row * n + i] *= 2.0f;
}

// The rows of a block start at its number, not after those of the block before.
__global__ void warp_row_overlap_any(float* a, int rows, int n) {
    int row = blockIdx.x + threadIdx.x / 32, lane = threadIdx.x % 32;
    if (row < rows)
        for (int i = lane; i < n; i += 32)
            a[row * n + i] *= 2.0f;
}

// Neighbouring lanes exchange values through shared memory.
__global__ void warp_stage_any(float* a) {
    __shared__ float s[8][32];
    int warp = threadIdx.x / 32, lane = threadIdx.x % 32, i = blockIdx.x * blockDim.x + threadIdx.x;
    s[warp][lane] = a[i];
    __syncwarp();
    a[i] = s[warp][lane ^ 1];
}

__global__ void warp_stage_unordered_any(float* a) {
    __shared__ float s[8][32];
    int warp = threadIdx.x / 32, lane = threadIdx.x % 32, i = blockIdx.x * blockDim.x + threadIdx.x;
    s[warp][lane] = a[i];
    a[i] = s[warp][lane ^ 1];
}
