// expect: reversed<float> race=proved divergence=proved
// expect: reversed<float> silent
// expect: reversed<float> launch main.cu:22 block=32 grid=16
// expect: reversed<double> race=race divergence=proved
// expect: reversed<double> finding race/shared error on s lines 16,18
// expect: reversed<double> launch main.cu:23 block=64 grid=16
// expect: reversed<int> race=proved divergence=proved
// expect: reversed<int> silent
// expect: reversed<int> launch main.cu:24 block=32 grid=8
//
// An instance that is not written is determined by the arguments.

template <typename T> __global__ void reversed(T* out, const T* in) {
  __shared__ T s[64];
  int t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
  s[t] = in[i];
  __syncwarp();
  out[i] = s[blockDim.x - 1 - t];
}

void run(float* a, const float* b, double* c, const double* d, int* e, const int* f) {
  reversed<float><<<16, 32>>>(a, b);
  reversed<<<16, 64>>>(c, d);
  reversed<<<8, 32>>>(e, f);
}
