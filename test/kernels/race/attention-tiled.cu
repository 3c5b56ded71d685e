// expect: attention race=proved divergence=proved
//
// Attention in one pass over tiles of keys and values: the maximum and the sum of a row's weights are kept up to date,
// and the partial sums are scaled when the maximum rises. Each warp has a row of queries.

#define D 64
#define ROWS 4
#define TILE 32
#define FULL 0xffffffffu

// selvage: block=32,4
__global__ void attention(const float* Q, const float* K, const float* V, float* O, int n, float scale) {
    __shared__ float q[ROWS][D];
    __shared__ float k[TILE][D + 1];
    __shared__ float v[TILE][D];
    __shared__ float p[ROWS][TILE];
    int lane = threadIdx.x, warp = threadIdx.y;
    int row = blockIdx.x * ROWS + warp;
    float most = -1e30f, sum = 0.0f, low = 0.0f, high = 0.0f;

    for (int d = lane; d < D; d += 32)
        q[warp][d] = Q[row * D + d] * scale;

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
            score += q[warp][d] * k[lane][d];
        float best = score;
        for (int offset = 16; offset > 0; offset /= 2)
            best = fmaxf(best, __shfl_xor_sync(FULL, best, offset));
        best = fmaxf(best, most);
        float weight = __expf(score - best);
        float weights = weight;
        for (int offset = 16; offset > 0; offset /= 2)
            weights += __shfl_xor_sync(FULL, weights, offset);

        p[warp][lane] = weight;
        __syncwarp();
        float old = __expf(most - best);
        low *= old;
        high *= old;
        for (int j = 0; j < TILE; ++j) {
            low += p[warp][j] * v[j][lane];
            high += p[warp][j] * v[j][lane + 32];
        }
        sum = sum * old + weights;
        most = best;
        __syncthreads();
    }
    O[row * D + lane] = low / sum;
    O[row * D + lane + 32] = high / sum;
}
