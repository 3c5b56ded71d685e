// One kernel each for what lowering must get right. `data` holds 256 words; every thread writes its own.
// kernels.verification.ptx: nvcc -ptx -arch=sm_80 -fmad=false -Ofc max kernels.cu; kernels.production.ptx: without
// -Ofc max. expected.json: what the kernels, compiled for a CPU, leave of the input that builds.test.ts makes.

struct Item {
  int key;
  unsigned char small;
  bool flag;
  short half;
  unsigned* out;
};

__device__ Item makeItem(int key, bool flag, unsigned* out) {
  Item item;
  item.key = key;
  item.small = (unsigned char)(key * 37);
  item.flag = flag;
  item.half = (short)(key * -113);
  item.out = out;
  return item;
}

__device__ void swapWords(unsigned& a, unsigned& b) {
  unsigned t = a;
  a = b;
  b = t;
}

__device__ int clampTo(int value, int low, int high) {
  if (value < low) return low;
  if (value > high) return high;
  return value;
}

extern "C" __global__ void structs(unsigned* data, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  Item item = makeItem(data[i] % 1000, i > n / 2, data);
  Item copy = item;
  copy.small += 3;
  copy.half /= 3;
  if (copy.flag) copy.key = -copy.key;
  copy.out[i] = copy.key * 31 + copy.small * 7 + copy.half + item.small + (item.flag ? 1000 : 2000);
}

extern "C" __global__ void byReference(unsigned* data, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  unsigned a = data[i], b = i * 17, c = n;
  if (a > b) swapWords(a, b);
  if (b > c) swapWords(b, c);
  unsigned* least = a < c ? &a : &c;
  *least += 5;
  auto add = [&](unsigned x) { a += x * b; return a ^ c; };
  data[i] = add(3) + add(7);
}

extern "C" __global__ void localArray(unsigned* data, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  unsigned window[8];
  unsigned total = 0;
  for (int k = 0; k < 8; k++) window[k] = data[i] * (k + 1) + k;
  for (int k = 7; k > 0; k--) window[k & (n & 7)] ^= window[k] >> 3;
  window[3] = 12345 + i;
  unsigned* end = window + 8;
  while (end != window) total = total * 31 + *--end;
  data[i] = total;
}

extern "C" __global__ void loops(unsigned* data, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  unsigned x = data[i] & 1023, steps = 0;
  for (int outer = 0; outer < n % 5 + 2; outer++) {
    for (unsigned inner = x & 7; inner < 20; inner += 3) {
      if (inner == 11) continue;
      if ((inner ^ outer) == 13) break;
      steps += inner * outer + 1;
    }
    do {
      x = x & 1 ? 3 * x + 1 : x / 2;
      steps++;
    } while (x > 4 && steps < 500);
    if (steps > 400) break;
  }
  data[i] = steps * 65536 + x;
}

extern "C" __global__ void choose(unsigned* data, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  unsigned x = data[i], y = 0;
  switch ((x + n) % 11) {
    case 0: y = 5; break;
    case 1: y = x * 3;
    case 2: y += x / 7; break;
    case 3: case 4: y = clampTo((int)x, -100, n); break;
    case 5: y = __popc(x) + __clz(x) + __brev(x); break;
    case 6: y = x % (n + 1); break;
    case 7: y = (unsigned)(((long long)(int)x * n) >> 5); break;
    case 9: y = __byte_perm(x, n, 0x5142); break;
    default: y = x << (n & 31);
  }
  data[i] = y;
}

extern "C" __global__ void reduce(unsigned* data, int n) {
  __shared__ unsigned tile[64];
  int t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
  tile[t] = data[i] & 0xffff;
  __syncthreads();
  for (int s = blockDim.x / 2; s > 0; s >>= 1) {
    if (t < s) tile[t] += tile[t + s];
    __syncthreads();
  }
  unsigned sum = tile[0];
  int odd = __syncthreads_count(data[i] & 1);
  data[i] = sum + odd * n + t;
}

extern "C" __global__ void wide(unsigned* data, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  unsigned __int128 big = data[i];
  big = big * big * (unsigned)n * 977 + 12345;
  unsigned long long high = (unsigned long long)(big >> 64), low = (unsigned long long)big;
  long long mixed = (long long)(low ^ high) / (n + 3);
  unsigned short narrow = (unsigned short)mixed;
  signed char tiny = (signed char)(mixed >> 9);
  data[i] = (unsigned)(mixed >> 20) + narrow * 3 + tiny;
}

extern "C" __global__ void floats(unsigned* data, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  float f = (float)(int)(data[i] % 2001 - 1000) / 8.0f;
  double d = f * 0.1 + n;
  float g = f < 0 ? -f : sqrtf(f + 1.0f);
  d = d / (g + 1.0) + fma(d, 3.0, (double)f);
  data[i] = __float_as_uint(g) ^ (unsigned)(long long)(d * 1000.0) ^ (unsigned)__double2int_rn(d);
}
