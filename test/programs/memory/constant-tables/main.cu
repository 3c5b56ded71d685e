// expect: permute race=proved divergence=proved
// expect: permute silent
// expect: permute launch main.cu:32 block=4 grid=64
// expect: permuteTwice race=race divergence=proved
// expect: permuteTwice finding race/global error on out lines 20
// expect: permuteTwice launch main.cu:35 block=4 grid=64
// expect: fromSymbol race=proved divergence=proved
// expect: fromSymbol silent
// expect: fromSymbol launch main.cu:37 block=4 grid=64
//
// Tables that the host copies to the device before the launch. One of them names a place twice.

__constant__ int order[4];

__global__ void permute(int* out, const int* table) {
  out[blockIdx.x * 4 + table[threadIdx.x]] = threadIdx.x;
}

__global__ void permuteTwice(int* out, const int* table) {
  out[blockIdx.x * 4 + table[threadIdx.x]] = threadIdx.x;
}

__global__ void fromSymbol(int* out) { out[blockIdx.x * 4 + order[threadIdx.x]] = threadIdx.x; }

static const int right[4] = {2, 0, 3, 1};
static const int wrong[4] = {2, 0, 2, 1};

void run(int* out) {
  int *a, *b;
  cudaMalloc(&a, sizeof(right));
  cudaMemcpy(a, right, sizeof(right), cudaMemcpyHostToDevice);
  permute<<<64, 4>>>(out, a);
  cudaMalloc(&b, sizeof(wrong));
  cudaMemcpy(b, wrong, sizeof(wrong), cudaMemcpyHostToDevice);
  permuteTwice<<<64, 4>>>(out, b);
  cudaMemcpyToSymbol(order, right, sizeof(right));
  fromSymbol<<<64, 4>>>(out);
}
