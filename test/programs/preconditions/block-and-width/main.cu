// expect: fillRows race=proved divergence=proved
// expect: fillRows silent
// expect: fillRows launch main.cu:19 grid=64
// expect: fillRows launch main.cu:19 permits blockDim.x=100,w=100
// expect: fillRows launch main.cu:19 excludes blockDim.x=101,w=100
// expect: fillRowsFar race=proved divergence=proved
// expect: fillRowsFar precondition "w >= blockDim.x"
// expect: fillRowsFar finding launch/precondition error lines 20
// expect: fillRowsFar launch main.cu:20 permits blockDim.x=101,w=100
//
// The number of elements of a row is that of the threads of its block, or one less.

__global__ void fillRows(int* a, int w) { a[blockIdx.x * w + threadIdx.x] = blockIdx.x; }

__global__ void fillRowsFar(int* a, int w) { a[blockIdx.x * w + threadIdx.x] = blockIdx.x; }

void run(int* a, int w) {
  if (w > 1000) return;
  fillRows<<<64, w>>>(a, w);
  fillRowsFar<<<64, w + 1>>>(a, w);
}
