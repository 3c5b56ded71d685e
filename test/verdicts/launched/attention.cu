// expect: attend race=proved divergence=proved
// expect: attend silent
// expect: attendScoresEarly race=race divergence=proved
// expect: attendScoresEarly finding race/shared error on memory lines 41,43,45
// expect: attendOverlap race=race divergence=proved
// expect: attendOverlap finding race/shared error on memory lines 57
// expect: attendTooFewBytes race=possible divergence=proved
// expect: attendTooFewBytes finding memory/out-of-bounds error on memory lines 73
//
// Attention of one query for each block, with the query and the scores carved out of dynamic shared memory.

__global__ void attend(float* out, const float* q, const float* k, const float* v, int keys, int dim) {
  extern __shared__ float memory[];
  float *query = memory, *score = memory + dim, most = -INFINITY, sum = 0, result = 0;
  int t = threadIdx.x;
  if (t < dim) query[t] = q[blockIdx.x * dim + t];
  __syncthreads();
  for (int j = t; j < keys; j += blockDim.x) {
    float dot = 0;
    for (int c = 0; c < dim; c++) dot += query[c] * k[j * dim + c];
    score[j] = dot;
  }
  __syncthreads();
  for (int j = 0; j < keys; j++) most = fmaxf(most, score[j]);
  for (int j = 0; j < keys; j++) sum += expf(score[j] - most);
  if (t >= dim) return;
  for (int j = 0; j < keys; j++) result += expf(score[j] - most) / sum * v[j * dim + t];
  out[blockIdx.x * dim + t] = result;
}

// No barrier between the scores and the threads that read all of them.
__global__ void attendScoresEarly(float* out, const float* q, const float* k, const float* v, int keys, int dim) {
  extern __shared__ float memory[];
  float *query = memory, *score = memory + dim, most = -INFINITY, result = 0;
  int t = threadIdx.x;
  if (t < dim) query[t] = q[blockIdx.x * dim + t];
  __syncthreads();
  for (int j = t; j < keys; j += blockDim.x) {
    float dot = 0;
    for (int c = 0; c < dim; c++) dot += query[c] * k[j * dim + c];
    score[j] = dot;
  }
  for (int j = 0; j < keys; j++) most = fmaxf(most, score[j]);
  if (t >= dim) return;
  for (int j = 0; j < keys; j++) result += expf(score[j] - most) * v[j * dim + t];
  out[blockIdx.x * dim + t] = result;
}

// The scores begin in the middle of the query: scores of some threads replace elements that others still read.
__global__ void attendOverlap(float* out, const float* q, const float* k, const float* v, int keys, int dim) {
  extern __shared__ float memory[];
  float *query = memory, *score = memory + dim / 2, result = 0;
  int t = threadIdx.x;
  if (t < dim) query[t] = q[blockIdx.x * dim + t];
  __syncthreads();
  for (int j = t; j < keys; j += blockDim.x) {
    score[j] = query[t % dim] * k[j * dim + t % dim] + query[(t + 1) % dim] * k[j * dim + (t + 1) % dim];
  }
  __syncthreads();
  if (t >= dim) return;
  for (int j = 0; j < keys; j++) result += expf(score[j]) * v[j * dim + t];
  out[blockIdx.x * dim + t] = result;
}

// The launch has no bytes for the last 36 scores.
__global__ void attendTooFewBytes(float* out, const float* q, const float* k, const float* v, int keys, int used,
                                  int dim) {
  extern __shared__ float memory[];
  float *query = memory, *score = memory + dim, result = 0;
  int t = threadIdx.x;
  if (t < dim) query[t] = q[blockIdx.x * dim + t];
  __syncthreads();
  for (int j = t; j < keys; j += blockDim.x) score[j] = query[0] * k[j];
  __syncthreads();
  if (t >= dim) return;
  for (int j = 0; j < used; j++) result += expf(score[j]) * v[j * dim + t];
  out[blockIdx.x * dim + t] = result;
}

void launchAttention(float* out, const float* q, const float* k, const float* v) {
  attend<<<200, 64, (64 + 100) * sizeof(float)>>>(out, q, k, v, 100, 64);
  attendScoresEarly<<<200, 64, (64 + 100) * sizeof(float)>>>(out, q, k, v, 100, 64);
  attendOverlap<<<200, 64, (64 + 100) * sizeof(float)>>>(out, q, k, v, 100, 64);
  attendTooFewBytes<<<200, 64, (64 + 64) * sizeof(float)>>>(out, q, k, v, 100, 64, 64);
}
