// expect: fold race=proved divergence=proved
// expect: fold silent
// expect: fold launch tools/fold.cu:7 block=32 grid=1

__global__ void fold(float* a) { a[threadIdx.x] = 1.0f; }

void tool(float* a) { fold<<<1, 32>>>(a); }
