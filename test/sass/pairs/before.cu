// Kernels before a change; see after.cu.

extern "C" __global__ void vector_load(float* o, const float* a) {
  int i = threadIdx.x * 4;
  float s = a[i] + a[i + 1] + a[i + 2] + a[i + 3];
  o[threadIdx.x] = s;
}

extern "C" __global__ void vector_store(float* o, float x) {
  int i = threadIdx.x * 4;
  o[i] = x;
  o[i + 1] = x;
  o[i + 2] = x;
  o[i + 3] = x;
}

extern "C" __global__ void narrow_load(float* o, const float4* a) {
  int i = threadIdx.x;
  float4 v = a[i];
  o[i] = v.x * v.y + v.z * v.w;
}

extern "C" __global__ void second_load(float* o, const float* a, const float* b) {
  int i = threadIdx.x;
  o[i] = a[i] * 2.0f;
}

extern "C" __global__ void load_gone(float* o, const float* a, const float* b) {
  int i = threadIdx.x;
  o[i] = a[i] * b[i];
}

extern "C" __global__ void store_more(float* o, float* p, const float* a) {
  int i = threadIdx.x;
  o[i] = a[i];
}

extern "C" __global__ void half_width(unsigned short* o, const unsigned* a) {
  int i = threadIdx.x;
  o[i] = (unsigned short)a[i];
}

extern "C" __global__ void bytes(unsigned char* o, const unsigned char* a) {
  int i = threadIdx.x;
  reinterpret_cast<unsigned*>(o)[i] = reinterpret_cast<const unsigned*>(a)[i];
}

extern "C" __global__ void to_double(float* o, const float* a) {
  int i = threadIdx.x;
  o[i] = a[i] * 1.1f + 2.3f;
}

extern "C" __global__ void from_double(float* o, const float* a) {
  int i = threadIdx.x;
  o[i] = a[i] * 1.1 + 2.3;
}

extern "C" __global__ void division(float* o, const float* a, float d) {
  int i = threadIdx.x;
  o[i] = a[i] * d;
}

extern "C" __global__ void fast_division(float* o, const float* a, float d) {
  int i = threadIdx.x;
  o[i] = a[i] / d;
}

extern "C" __global__ void sine(float* o, const float* a) {
  int i = threadIdx.x;
  o[i] = a[i] * 3.0f;
}

extern "C" __global__ void exponent(float* o, const float* a) {
  int i = threadIdx.x;
  o[i] = __expf(a[i]) + __logf(a[i]);
}

extern "C" __global__ void barrier_more(float* o, const float* a) {
  __shared__ float s[256];
  int i = threadIdx.x;
  s[i] = a[i];
  __syncthreads();
  o[i] = s[255 - i];
}

extern "C" __global__ void barrier_gone(float* o, const float* a) {
  __shared__ float s[256];
  int i = threadIdx.x;
  s[i] = a[i];
  __syncthreads();
  o[i] = s[i];
}

extern "C" __global__ void fence(float* o, const float* a) {
  int i = threadIdx.x;
  o[i] = a[i];
  o[i + 256] = 1.0f;
}

extern "C" __global__ void atomic(int* o, const int* a) {
  int i = threadIdx.x;
  o[i] = a[i];
}

extern "C" __global__ void atomic_gone(int* o, const int* a) {
  int i = threadIdx.x;
  atomicMax(o + a[i], i);
}

extern "C" __global__ void shared_vector(float* o, const float* a) {
  __shared__ float4 s[64];
  int i = threadIdx.x;
  reinterpret_cast<float*>(s)[i] = a[i];
  __syncthreads();
  volatile float* p = reinterpret_cast<volatile float*>(s) + 4 * (i & 63);
  o[i] = p[0] + p[1] + p[2] + p[3];
}

extern "C" __global__ void shared_more(float* o, const float* a) {
  __shared__ float s[256];
  int i = threadIdx.x;
  s[i] = a[i];
  __syncthreads();
  o[i] = s[255 - i];
}

extern "C" __global__ void spills(float* o, const float* a, int n) {
  float s = 0;
  for (int k = 0; k < n; ++k) s += a[k * 256 + threadIdx.x];
  o[threadIdx.x] = s;
}

extern "C" __global__ void spills_gone(float* o, const float* a, int n) {
  float v[8], s = 0;
  for (int k = 0; k < 8; ++k) v[k] = a[k];
  for (int k = 0; k < n; ++k) s += v[(k + threadIdx.x) & 7];
  o[threadIdx.x] = s;
}

extern "C" __global__ void longer(int* o, const int* a) {
  int i = threadIdx.x;
  o[i] = a[i] + 1;
}

extern "C" __global__ void shorter(int* o, const int* a, int d) {
  int i = threadIdx.x;
  o[i] = a[i] % 1001;
}

extern "C" __global__ void divided_integers(int* o, const int* a, long long d) {
  int i = threadIdx.x;
  o[i] = a[i] * (int)d;
}

extern "C" __global__ void texture(float* o, cudaTextureObject_t t, const float* a) {
  int i = threadIdx.x;
  o[i] = a[i];
}

extern "C" __global__ void square_root(float* o, const float* a) {
  int i = threadIdx.x;
  o[i] = a[i];
}

extern "C" __global__ void pair_load(float* o, const float* a) {
  int i = threadIdx.x * 2;
  o[threadIdx.x] = a[i] - a[i + 1];
}

extern "C" __global__ void both_ways(float4* o, const float* a) {
  int i = threadIdx.x;
  float* p = reinterpret_cast<float*>(o) + 4 * i;
  float x = a[i];
  p[0] = x;
  p[1] = x * 2;
  p[2] = x * 3;
  p[3] = x * 4;
}
