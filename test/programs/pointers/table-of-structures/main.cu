// expect: scaleChunk race=proved divergence=proved
// expect: scaleChunk silent
// expect: scaleChunk launch main.cu:22 block=256 grid=16
// expect: halveChunk race=race divergence=proved
// expect: halveChunk finding race/global error on a lines 12
// expect: halveChunk launch main.cu:22 block=512 grid=16
//
// Kernel and block are members of one structure, so each kernel has its own block.

__global__ void scaleChunk(float* a) { a[blockIdx.x * 256 + threadIdx.x] *= 2.0f; }

__global__ void halveChunk(float* a) { a[blockIdx.x * 256 + threadIdx.x] *= 0.5f; }

struct Entry {
  void (*kernel)(float*);
  int threads;
};

const Entry entries[] = {{scaleChunk, 256}, {halveChunk, 512}};

void run(float* a) {
  for (const Entry& entry : entries) entry.kernel<<<16, entry.threads>>>(a);
}
