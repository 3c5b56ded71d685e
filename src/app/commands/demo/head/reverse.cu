// Reverses each group of 128 elements and marks it as finished.
// selvage: block=128 grid=32 arg(n=4000)
__global__ void reverse(const float* in, float* out, int* finished, int n) {
  __shared__ float tile[128];
  int t = threadIdx.x;
  int i = blockIdx.x * blockDim.x + t;
  if (i < n) {
    tile[t] = in[i];
    __syncthreads();
    out[i] = tile[127 - t];
  }
  __syncthreads();
  if (t == 0) finished[blockIdx.x] = 1;
}
