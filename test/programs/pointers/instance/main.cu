// expect: reversed<float> race=proved divergence=proved
// expect: reversed<float> silent
// expect: reversed<float> launch main.cu:20 block=32 grid=16
// expect: reversed<double> race=race divergence=proved
// expect: reversed<double> finding race/shared error on s lines 13,15
// expect: reversed<double> launch main.cu:22 block=64 grid=16
//
// Pointers to instances of a template.

template <typename T> __global__ void reversed(T* a) {
  __shared__ T s[64];
  int t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
  s[t] = a[i];
  __syncwarp();
  a[i] = s[blockDim.x - 1 - t];
}

void run(float* a, double* b) {
  void* arguments[] = {&a};
  cudaLaunchKernel((void*)reversed<float>, dim3(16), dim3(32), arguments, 0, 0);
  void (*kernel)(double*) = reversed<double>;
  kernel<<<16, 64>>>(b);
}
