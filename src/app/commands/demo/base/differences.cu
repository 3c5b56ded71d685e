// out[i] = in[i + 1] - in[i].
// selvage: block=256 grid=40 arg(n=10000)
__global__ void differences(const float* in, float* out, int n) {
  __shared__ float tile[257];
  int t = threadIdx.x;
  int first = blockIdx.x * blockDim.x;
  int i = first + t;
  if (i < n) tile[t] = in[i];
  if (t == 0 && first + 256 < n) tile[256] = in[first + 256];
  __syncthreads();
  if (i + 1 < n) out[i] = tile[t + 1] - tile[t];
}
