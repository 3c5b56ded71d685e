// expect: shiftData race=race divergence=proved
// expect: shiftData finding race/global error on in lines 16
// expect: shiftData launch main.cu:35 block=256 grid=1
// expect: shiftGet race=race divergence=proved
// expect: shiftGet finding race/global error on in lines 18
// expect: shiftGet launch main.cu:36 block=256 grid=1
// expect: shiftRaw race=race divergence=proved
// expect: shiftRaw finding race/global error on in lines 20
// expect: shiftRaw launch main.cu:37 block=256 grid=1
// expect: shiftOther race=proved divergence=proved
// expect: shiftOther silent
// expect: shiftOther launch main.cu:38 block=256 grid=1
//
// Known accessors of one object return one buffer.

__global__ void shiftData(int* out, const int* in) { out[threadIdx.x] = in[threadIdx.x + 1]; }

__global__ void shiftGet(int* out, const int* in) { out[threadIdx.x] = in[threadIdx.x + 1]; }

__global__ void shiftRaw(int* out, const int* in) { out[threadIdx.x] = in[threadIdx.x + 1]; }

__global__ void shiftOther(int* out, const int* in) { out[threadIdx.x] = in[threadIdx.x + 1]; }

struct Buffer {
  int* memory;
  int* data() { return memory; }
  int* get() const { return memory; }
};

namespace thrust {
inline int* raw_pointer_cast(int* pointer) { return pointer; }
}  // namespace thrust

void run(Buffer& one, Buffer& other) {
  shiftData<<<1, 256>>>(one.data(), one.data());
  shiftGet<<<1, 256>>>(one.get(), one.get());
  shiftRaw<<<1, 256>>>(thrust::raw_pointer_cast(one.data()), thrust::raw_pointer_cast(one.data()));
  shiftOther<<<1, 256>>>(one.data(), other.data());
}
