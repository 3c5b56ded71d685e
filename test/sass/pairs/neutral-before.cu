// Kernels whose code does not change; see neutral-after.cu.

extern "C" __global__ void renamed_variable(float* o, const float* a) {
  int i = threadIdx.x;
  float value = a[i];
  o[i] = value * value;
}

extern "C" __global__ void reformatted(float* o, const float* a) {
  int i = threadIdx.x;
  if (i < 100) o[i] = a[i] + 1.0f;
}

extern "C" __global__ void commented(float* o, const float* a) {
  int i = threadIdx.x;
  o[i] = a[i];
}

extern "C" __global__ void named_constant(float* o, const float* a) {
  o[threadIdx.x] = a[threadIdx.x] * 4.0f;
}

extern "C" __global__ void split_statement(float* o, const float* a) {
  int i = threadIdx.x;
  o[i] = a[i] * 2.0f + 1.0f;
}

extern "C" __global__ void swapped_operands(int* o, const int* a) {
  int i = threadIdx.x;
  o[i] = a[i] + i;
}

extern "C" __global__ void for_to_while(float* o, const float* a, int n) {
  float s = 0;
  for (int k = 0; k < n; ++k) s += a[k];
  o[0] = s;
}

extern "C" __global__ void early_return(float* o, const float* a, int n) {
  int i = threadIdx.x;
  if (i < n) {
    o[i] = a[i];
  }
}

extern "C" __global__ void unused_variable(float* o, const float* a) {
  o[threadIdx.x] = a[threadIdx.x];
}

extern "C" __global__ void dead_branch(float* o, const float* a) {
  o[threadIdx.x] = a[threadIdx.x];
}

extern "C" __global__ void shift_for_product(int* o, const int* a) {
  int i = threadIdx.x;
  o[i] = a[i] * 8;
}

extern "C" __global__ void helper(float* o, const float* a) {
  int i = threadIdx.x;
  o[i] = a[i] * a[i];
}

extern "C" __global__ void reordered_declarations(float* o, const float* a) {
  int i = threadIdx.x;
  int j = blockIdx.x;
  o[j * 64 + i] = a[i];
}

extern "C" __global__ void cast_spelling(float* o, const int* a) {
  int i = threadIdx.x;
  o[i] = (float)a[i];
}

extern "C" __global__ void pointer_or_index(float* o, const float* a) {
  int i = threadIdx.x;
  o[i] = a[i];
}
