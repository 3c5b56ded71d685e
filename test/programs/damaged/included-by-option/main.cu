// expect: scaleChunk race=proved divergence=proved
// expect: scaleChunk silent
// expect: scaleChunk launch main.cu:17 block=256 grid=16
// expect: halveChunk race=race divergence=proved
// expect: halveChunk finding race/global error on a lines 13
// expect: halveChunk launch main.cu:18 block=512 grid=16
// options: -- -include cstdint
//
// Without the header of the option neither kernels nor host compile.

__global__ void scaleChunk(std::uint32_t* a) { a[blockIdx.x * 256 + threadIdx.x] *= 2u; }

__global__ void halveChunk(std::uint32_t* a) { a[blockIdx.x * 256 + threadIdx.x] /= 2u; }

void run(std::uint32_t* a, std::uint32_t* b) {
  const std::uint32_t threads = 256;
  scaleChunk<<<16, threads>>>(a);
  halveChunk<<<16, 2 * threads>>>(b);
}
