// expect: scaleChunk race=proved divergence=proved
// expect: scaleChunk silent
// expect: scaleChunk launch main.cu:21 block=256 grid=16
// expect: addChunk race=proved divergence=proved
// expect: addChunk silent
// expect: addChunk launch main.cu:27 block=256 grid=16
// expect: halveChunk race=race divergence=proved
// expect: halveChunk finding race/global error on a lines 17
// expect: halveChunk launch main.cu:35 block=512 grid=16
//
// Functions that launch and call themselves, each other, and instances of themselves without end.

__global__ void scaleChunk(float* a) { a[blockIdx.x * 256 + threadIdx.x] *= 2.0f; }

__global__ void addChunk(float* a) { a[blockIdx.x * 256 + threadIdx.x] += 1.0f; }

__global__ void halveChunk(float* a) { a[blockIdx.x * 256 + threadIdx.x] *= 0.5f; }

void again(float* a, int rounds, int threads) {
  if (rounds == 0) return;
  scaleChunk<<<16, threads>>>(a);
  again(a, rounds - 1, threads);
}

void odd(float* a, int threads);
void even(float* a, int threads) {
  addChunk<<<16, threads>>>(a);
  odd(a, threads / 2);
}
void odd(float* a, int threads) {
  if (threads > 32) even(a, threads);
}

template <int Depth> void nested(float* a) {
  if (Depth == 0) halveChunk<<<16, 512>>>(a);
  nested<(Depth > 0 ? Depth - 1 : 0)>(a);
}

void run(float* a) {
  again(a, 5, 256);
  even(a, 256);
  nested<6>(a);
}

