// expect: splitRows race=proved divergence=proved
// expect: splitRows silent
// expect: splitRows launch main.cu:37 block=256 grid=16
// expect: splitClose race=race divergence=proved
// expect: splitClose finding race/global error on first lines 22,23
// expect: splitClose launch main.cu:44 block=256 grid=16
//
// One allocation contains three arrays. The distance between them decides.

__global__ void splitRows(float* first, float* second, float* third, const float* in, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) {
    first[i] = in[3 * i];
    second[i] = in[3 * i + 1];
    third[i] = in[3 * i + 2];
  }
}

__global__ void splitClose(float* first, float* second, float* third, const float* in, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) {
    first[i] = in[3 * i];
    second[i] = in[3 * i + 1];
    third[i] = in[3 * i + 2];
  }
}

int main() {
  const int n = 4096;
  float *parts, *in;
  cudaMalloc(&parts, 3 * n * sizeof(float));
  cudaMalloc(&in, 3 * n * sizeof(float));
  {
    float* first = parts + 0 * n;
    float* second = parts + 1 * n;
    float* third = parts + 2 * n;
    splitRows<<<n / 256, 256>>>(third, first, second, in, n);
  }
  {
    // The second array begins one element too early.
    float* first = parts;
    float* second = parts + n - 1;
    float* third = second + n;
    splitClose<<<n / 256, 256>>>(first, second, third, in, n);
  }
}
