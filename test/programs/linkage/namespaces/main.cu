// expect: first::step race=proved divergence=proved
// expect: first::step silent
// expect: first::step launch main.cu:10 block=256 grid=4
// expect: second::step race=race divergence=proved
// expect: second::step finding race/global error on a lines 14
// expect: second::step launch main.cu:19 block=256 grid=4

namespace first {
__global__ void step(int* a) { a[blockIdx.x * 256 + threadIdx.x]++; }
void run(int* a) { step<<<4, 256>>>(a); }
}  // namespace first

namespace second {
__global__ void step(int* a) { a[blockIdx.x * 64 + threadIdx.x]++; }
}  // namespace second

using namespace second;

void run(int* a) { second::step<<<4, 256>>>(a); }
