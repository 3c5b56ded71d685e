// Kernels whose code does not change, in another order.

extern "C" __global__ void pointer_or_index(float* o, const float* a) {
  int i = threadIdx.x;
  *(o + i) = *(a + i);
}

extern "C" __global__ void cast_spelling(float* o, const int* a) {
  int i = threadIdx.x;
  o[i] = static_cast<float>(a[i]);
}

extern "C" __global__ void reordered_declarations(float* o, const float* a) {
  int j = blockIdx.x;
  int i = threadIdx.x;
  o[j * 64 + i] = a[i];
}

extern "C" __global__ void helper(float* o, const float* a) {
  int i = threadIdx.x;
  auto square = [](float x) { return x * x; };
  o[i] = square(a[i]);
}

extern "C" __global__ void shift_for_product(int* o, const int* a) {
  int i = threadIdx.x;
  o[i] = a[i] << 3;
}

extern "C" __global__ void dead_branch(float* o, const float* a) {
  if (sizeof(int) == 8) o[0] = 3.0f;
  o[threadIdx.x] = a[threadIdx.x];
}

extern "C" __global__ void unused_variable(float* o, const float* a) {
  int unused = threadIdx.x * 3;
  (void)unused;
  o[threadIdx.x] = a[threadIdx.x];
}

extern "C" __global__ void early_return(float* o, const float* a, int n) {
  int i = threadIdx.x;
  if (i >= n) return;
  o[i] = a[i];
}

extern "C" __global__ void for_to_while(float* o, const float* a, int n) {
  float s = 0;
  int k = 0;
  while (k < n) {
    s += a[k];
    ++k;
  }
  o[0] = s;
}

extern "C" __global__ void swapped_operands(int* o, const int* a) {
  int i = threadIdx.x;
  o[i] = i + a[i];
}

extern "C" __global__ void split_statement(float* o, const float* a) {
  int i = threadIdx.x;
  float twice = a[i] * 2.0f;
  o[i] = twice + 1.0f;
}

extern "C" __global__ void named_constant(float* o, const float* a) {
  constexpr float factor = 4.0f;
  o[threadIdx.x] = a[threadIdx.x] * factor;
}

extern "C" __global__ void commented(float* o, const float* a) {
  // The index of the thread.
  int i = threadIdx.x;
  // Copies.
  o[i] = a[i];
}

extern "C" __global__ void reformatted(float* o, const float* a) {
  int i = threadIdx.x;
  if (i < 100)
  {
    o[i] =
      a[i] + 1.0f;
  }
}

extern "C" __global__ void renamed_variable(float* o, const float* a) {
  int t = threadIdx.x;
  float x = a[t];
  o[t] = x * x;
}
