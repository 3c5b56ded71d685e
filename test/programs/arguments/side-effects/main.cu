// expect: shiftNext race=proved divergence=proved
// expect: shiftNext silent
// expect: shiftNext launch main.cu:29 block=256 grid=1
// expect: shiftCount race=proved divergence=proved
// expect: shiftCount silent
// expect: shiftCount launch main.cu:30 block=256 grid=1
// expect: shiftStep race=proved divergence=proved
// expect: shiftStep silent
// expect: shiftStep launch main.cu:31 block=256 grid=1
//
// The same text is not the same buffer if it changes a variable that it reads.

__global__ void shiftNext(int* out, const int* in) { out[threadIdx.x] = in[threadIdx.x + 1]; }

__global__ void shiftCount(int* out, const int* in) { out[threadIdx.x] = in[threadIdx.x + 1]; }

__global__ void shiftStep(int* out, const int* in) { out[threadIdx.x] = in[threadIdx.x + 1]; }

struct Arena {
  char* end;
  int* take(size_t bytes) {
    int* start = (int*)end;
    end += bytes;
    return start;
  }
};

void run(Arena& arena, int** buffers, int k) {
  shiftNext<<<1, 256>>>(arena.take(2048), arena.take(2048));
  shiftCount<<<1, 256>>>(buffers[k++], buffers[k++]);
  shiftStep<<<1, 256>>>(*buffers++, *buffers++);
}
