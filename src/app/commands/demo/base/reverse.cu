// Reverses each group of 128 elements and marks it as finished.
// selvage: block=128 grid=32 arg(n=4000)
__global__ void reverse(const float* in, float* out, int* finished, int n) {
  __shared__ float tile[128];
  int t = threadIdx.x;
  int i = blockIdx.x * blockDim.x + t;
  tile[t] = i < n ? in[i] : 0.0f;
  __syncthreads();
  if (i < n) {
    out[i] = tile[127 - t];
  }
  __syncthreads();
  if (t == 0) finished[blockIdx.x] = 1;
}
