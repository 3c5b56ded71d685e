// expect: scaleChunk race=proved divergence=proved
// expect: scaleChunk silent
// expect: scaleChunk launch main.cu:15 block=256 grid=16
// expect: halveChunk race=race divergence=proved
// expect: halveChunk finding race/global error on a lines 10
// expect: halveChunk launch main.cu:16 block=512 grid=16

__global__ void scaleChunk(float* a) { a[blockIdx.x * 256 + threadIdx.x] *= 2.0f; }

__global__ void halveChunk(float* a) { a[blockIdx.x * 256 + threadIdx.x] *= 0.5f; }

class Runner {
 public:
  explicit Runner(float* a) : data(a) {}
  void scale() const { scaleChunk<<<blocks, threads>>>(data); }
  void halve() const { halveChunk<<<blocks, 2 * threads>>>(data); }

 private:
  static constexpr int threads = 256;
  static const int blocks = 16;
  float* data;
};

void run(float* a) {
  Runner runner(a);
  runner.scale();
  runner.halve();
}
