// expect: markOnes race=proved divergence=proved
// expect: markOnes silent
// expect: markOnes launch main.cu:26 block=256 grid=16
// expect: markSet race=race divergence=proved
// expect: markSet finding race/global error on out lines 19
// expect: markSet launch main.cu:29 block=256 grid=16
//
// All flags are 0 in the first launch, so no thread takes the branch. In the second one all of them take it.

__global__ void markOnes(int* out, const int* flags) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  out[i + 1] = 1;
  if (flags[i] != 0) out[0] = i;
}

__global__ void markSet(int* out, const int* flags) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  out[i + 1] = 1;
  if (flags[i] != 0) out[0] = i;
}

void run(int* out) {
  int *zeros, *ones;
  cudaMalloc(&zeros, 4096 * sizeof(int));
  cudaMemset(zeros, 0, 4096 * sizeof(int));
  markOnes<<<16, 256>>>(out, zeros);
  cudaMalloc(&ones, 4096 * sizeof(int));
  cudaMemset(ones, 0xff, 4096 * sizeof(int));
  markSet<<<16, 256>>>(out, ones);
}
