// expect: reloads_too_early race=race divergence=proved finding race/shared lines 29,36 finding race/shared lines 30,40 finding race/shared lines 30,41
// expect: weights_of_others race=race divergence=proved finding race/shared lines 54,57
// expect: weights_in_one_row race=race divergence=proved finding race/shared lines 66,66 finding race/shared lines 66,70
// expect: rows_overlap race=race divergence=proved finding race/global lines 78,78
//
// Attention over tiles, with a barrier left out or an index too coarse: before the next tile is loaded, within the warp
// between weights and their use, one row of weights for all warps, and rows that do not move on far enough.

#define D 64
#define ROWS 4
#define TILE 32

__device__ float largest(float x) {
    for (int offset = 16; offset > 0; offset /= 2)
        x = fmaxf(x, __shfl_xor_sync(0xffffffffu, x, offset));
    return x;
}

// selvage: block=32,4 grid=2 arg(n=128)
__global__ void reloads_too_early(const float* Q, const float* K, const float* V, float* O, int n) {
    __shared__ float k[TILE][D + 1];
    __shared__ float v[TILE][D];
    int lane = threadIdx.x, warp = threadIdx.y;
    int row = blockIdx.x * ROWS + warp;
    float low = 0.0f, high = 0.0f;
    for (int first = 0; first < n; first += TILE) {
        for (int r = warp; r < TILE; r += ROWS) {
            for (int d = lane; d < D; d += 32) {
                k[r][d] = K[(first + r) * D + d];
                v[r][d] = V[(first + r) * D + d];
            }
        }
        __syncthreads();
        float score = 0.0f;
        for (int d = 0; d < D; ++d)
            score += Q[row * D + d] * k[lane][d];
        float best = largest(score);
        for (int j = 0; j < TILE; ++j) {
            float weight = __shfl_sync(0xffffffffu, score - best, j);
            low += weight * v[j][lane];
            high += weight * v[j][lane + 32];
        }
    }
    O[row * D + lane] = low;
    O[row * D + lane + 32] = high;
}

// selvage: block=32,4 grid=2
__global__ void weights_of_others(const float* S, const float* V, float* O) {
    __shared__ float p[ROWS][TILE];
    int lane = threadIdx.x, warp = threadIdx.y;
    int row = blockIdx.x * ROWS + warp;
    float score = S[row * TILE + lane];
    p[warp][lane] = score - largest(score);
    float sum = 0.0f;
    for (int j = 0; j < TILE; ++j)
        sum += p[warp][j] * V[j * TILE + lane];
    O[row * TILE + lane] = sum;
}

// selvage: block=32,4 grid=2
__global__ void weights_in_one_row(const float* S, const float* V, float* O) {
    __shared__ float p[TILE];
    int lane = threadIdx.x, warp = threadIdx.y;
    int row = blockIdx.x * ROWS + warp;
    p[lane] = S[row * TILE + lane];
    __syncwarp();
    float sum = 0.0f;
    for (int j = 0; j < TILE; ++j)
        sum += p[j] * V[j * TILE + lane];
    O[row * TILE + lane] = sum;
}

// selvage: block=32,4 grid=2
__global__ void rows_overlap(const float* S, float* O) {
    int lane = threadIdx.x, warp = threadIdx.y;
    int row = blockIdx.x * (ROWS - 1) + warp;
    O[row * TILE + lane] = S[row * TILE + lane] * blockIdx.x;
}
