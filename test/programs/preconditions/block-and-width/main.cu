// expect: fillRows race=proved divergence=proved
// expect: fillRows silent
// expect: fillRows launch main.cu:21 grid=64
// expect: fillRows launch main.cu:21 permits blockDim.x=100,w=100
// expect: fillRows launch main.cu:21 excludes blockDim.x=101,w=100
// open: fillRows precondition "w >= blockDim.x"; launch at main.cu:19 not tied
// expect: fillRowsFar race=proved divergence=proved
// expect: fillRowsFar precondition "w >= blockDim.x"
// expect: fillRowsFar finding launch/precondition error lines 22
// expect: fillRowsFar launch main.cu:22 permits blockDim.x=101,w=100
// open: fillRowsFar no launch/precondition
//
// A row has as many elements as its block has threads, or one fewer.

__global__ void fillRows(int* a, int w) { a[blockIdx.x * w + threadIdx.x] = blockIdx.x; }

__global__ void fillRowsFar(int* a, int w) { a[blockIdx.x * w + threadIdx.x] = blockIdx.x; }

void run(int* a, int w) {
  if (w > 1000) return;
  fillRows<<<64, w>>>(a, w);
  fillRowsFar<<<64, w + 1>>>(a, w);
}
