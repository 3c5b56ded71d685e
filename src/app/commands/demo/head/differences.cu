// values[i] = values[i + 1] - values[i], in place.
// selvage: block=256 grid=40 arg(n=10000)
__global__ void differences(float* values, int n) {
  __shared__ float tile[257];
  int t = threadIdx.x;
  int first = blockIdx.x * blockDim.x;
  int i = first + t;
  if (i < n) tile[t] = values[i];
  if (t == 0 && first + 256 < n) tile[256] = values[first + 256];
  __syncthreads();
  if (i + 1 < n) values[i] = tile[t + 1] - tile[t];
}
