// One kernel, launched in two shapes.
__global__ void addOne(float *a, int width) {
  int x = blockIdx.x * blockDim.x + threadIdx.x;
  int y = blockIdx.y * blockDim.y + threadIdx.y;
  a[y * width + x] += 1.0f;
}
void small(float *a) { addOne<<<dim3(4, 4), dim3(64, 4)>>>(a, 256); }
void big(float *a) { addOne<<<dim3(512, 8), dim3(4, 64)>>>(a, 2048); }
