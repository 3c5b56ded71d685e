// Kernels before and after a change; comparison.test.ts has the expected sentence for each.

extern "C" __global__ void vector_load(float* o, const float* a) {
  int i = threadIdx.x;
  float4 v = reinterpret_cast<const float4*>(a)[i];  // HERE
  o[i] = v.x + v.y + v.z + v.w;
}

extern "C" __global__ void vector_store(float* o, float x) {
  int i = threadIdx.x;
  reinterpret_cast<float4*>(o)[i] = make_float4(x, x, x, x);  // HERE
}

extern "C" __global__ void narrow_load(float* o, const float4* a) {
  int i = threadIdx.x;
  const float* p = reinterpret_cast<const float*>(a) + 4 * i;
  o[i] = p[0] * p[1] + p[2] * p[3];  // HERE
}

extern "C" __global__ void second_load(float* o, const float* a, const float* b) {
  int i = threadIdx.x;
  o[i] = a[i] * b[i];  // HERE
}

extern "C" __global__ void load_gone(float* o, const float* a, const float* b) {
  int i = threadIdx.x;
  o[i] = a[i] * 2.0f;  // HERE
}

extern "C" __global__ void store_more(float* o, float* p, const float* a) {
  int i = threadIdx.x;
  o[i] = a[i];
  p[i] = 1.0f;  // HERE
}

extern "C" __global__ void half_width(unsigned short* o, const unsigned* a) {
  int i = threadIdx.x;
  o[i] = reinterpret_cast<const unsigned short*>(a)[2 * i];  // HERE
}

extern "C" __global__ void bytes(unsigned char* o, const unsigned char* a) {
  int i = threadIdx.x * 4;
  for (int k = 0; k < 4; ++k) {
    o[i + k] = a[i + k];  // HERE
  }
}

extern "C" __global__ void to_double(float* o, const float* a) {
  int i = threadIdx.x;
  o[i] = a[i] * 1.1 + 2.3;  // HERE
}

extern "C" __global__ void from_double(float* o, const float* a) {
  int i = threadIdx.x;
  o[i] = a[i] * 1.1f + 2.3f;  // HERE
}

extern "C" __global__ void division(float* o, const float* a, float d) {
  int i = threadIdx.x;
  o[i] = a[i] / d;  // HERE
}

extern "C" __global__ void fast_division(float* o, const float* a, float d) {
  int i = threadIdx.x;
  o[i] = __fdividef(a[i], d);  // HERE
}

extern "C" __global__ void sine(float* o, const float* a) {
  int i = threadIdx.x;
  o[i] = __sinf(a[i]);  // HERE
}

extern "C" __global__ void exponent(float* o, const float* a) {
  int i = threadIdx.x;
  o[i] = __expf(a[i]);  // HERE
}

extern "C" __global__ void barrier_more(float* o, const float* a) {
  __shared__ float s[256];
  int i = threadIdx.x;
  s[i] = a[i];
  __syncthreads();
  o[i] = s[255 - i];
  __syncthreads();  // HERE
  s[i] = o[i];
  o[i + 256] = s[i];
}

extern "C" __global__ void barrier_gone(float* o, const float* a) {
  __shared__ float s[256];
  int i = threadIdx.x;
  s[i] = a[i];
  o[i] = s[i];
}

extern "C" __global__ void fence(float* o, const float* a) {
  int i = threadIdx.x;
  o[i] = a[i];
  __threadfence();  // HERE
  o[i + 256] = 1.0f;
}

extern "C" __global__ void atomic(int* o, const int* a) {
  int i = threadIdx.x;
  o[i] = a[i];
  atomicMax(o + 999, i + a[i]);  // HERE
}

extern "C" __global__ void atomic_gone(int* o, const int* a) {
  int i = threadIdx.x;
  o[a[i]] = i;  // HERE
}

extern "C" __global__ void shared_vector(float* o, const float* a) {
  __shared__ float4 s[64];
  int i = threadIdx.x;
  reinterpret_cast<float*>(s)[i] = a[i];
  __syncthreads();
  float4 v = s[i & 63];  // HERE
  o[i] = v.x + v.y + v.z + v.w;
}

extern "C" __global__ void shared_more(float* o, const float* a) {
  __shared__ float s[256];
  int i = threadIdx.x;
  s[i] = a[i];
  __syncthreads();
  o[i] = s[255 - i] + s[(i + 1) & 255];  // HERE
}

extern "C" __global__ void spills(float* o, const float* a, int n) {
  float v[40], s = 0;
  for (int k = 0; k < 40; ++k) v[k] = a[k];
  for (int k = 0; k < n; ++k) {
    s += v[(k * 7 + threadIdx.x) % 40];  // HERE
  }
  o[threadIdx.x] = s;
}

extern "C" __global__ void spills_gone(float* o, const float* a, int n) {
  float s = 0;
  for (int k = 0; k < n; ++k) s += a[(k + threadIdx.x) & 7];  // HERE
  o[threadIdx.x] = s;
}

extern "C" __global__ void longer(int* o, const int* a) {
  int i = threadIdx.x;
  o[i] = (a[i] * 77 ^ 13) % 1001;  // HERE
}

extern "C" __global__ void shorter(int* o, const int* a, int d) {
  int i = threadIdx.x;
  o[i] = a[i] & 1023;  // HERE
}

extern "C" __global__ void divided_integers(int* o, const int* a, long long d) {
  int i = threadIdx.x;
  o[i] = (int)((long long)a[i] * i * 1000003 / d);  // HERE
}

extern "C" __global__ void texture(float* o, cudaTextureObject_t t, const float* a) {
  int i = threadIdx.x;
  o[i] = tex1Dfetch<float>(t, i);  // HERE
}

extern "C" __global__ void square_root(float* o, const float* a) {
  int i = threadIdx.x;
  o[i] = rsqrtf(a[i]);  // HERE
}

extern "C" __global__ void pair_load(float* o, const float* a) {
  int i = threadIdx.x;
  float2 v = reinterpret_cast<const float2*>(a)[i];  // HERE
  o[i] = v.x - v.y;
}

extern "C" __global__ void both_ways(float4* o, const float* a) {
  int i = threadIdx.x;
  float x = a[i];
  o[i] = make_float4(x, x * 2, x * 3, x * 4);  // HERE
}
