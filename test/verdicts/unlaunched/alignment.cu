// expect: copyRows race=proved divergence=proved
// expect: copyRows silent
// expect: copyRows finding memory/misaligned notice on in lines 48 when "pitch % 4 == 0"
// expect: copyRowsAnyPitch race=proved divergence=proved
// expect: copyRowsAnyPitch silent
// expect: copyRowsStated race=proved divergence=proved
// expect: copyRowsStated silent
// expect: copyVectors race=proved divergence=proved
// expect: copyVectors silent
// expect: skipHeader race=proved divergence=proved
// expect: skipHeader silent
// expect: skipHeader finding memory/misaligned notice on in lines 80 when "header % 2 == 0"
// expect: skipEvenHeader race=proved divergence=proved
// expect: skipEvenHeader silent
// expect: skipTwoParts race=proved divergence=proved
// expect: skipTwoParts silent
// expect: skipTwoParts finding memory/misaligned notice on in lines 93 when "(first + second) % 8 == 0"
// expect: skipRounded race=proved divergence=proved
// expect: skipRounded silent
// expect: clearQuads race=proved divergence=proved
// expect: clearQuads silent
// expect: readQuads race=possible divergence=proved
// expect: readQuads finding memory/misaligned error on in lines 111
// expect: loadMatrix race=proved divergence=proved
// expect: loadMatrix silent
// expect: loadMatrix precondition "blockDim.x <= 32"
// expect: loadMatrixPadded race=possible divergence=proved
// expect: loadMatrixPadded finding memory/misaligned error on tile lines 134
// expect: loadMatrixPadded precondition "blockDim.x <= 32"
// expect: readPairs race=proved divergence=proved
// expect: readPairs silent
// expect: readPlanes race=possible divergence=proved
// expect: readPlanes finding memory/misaligned error on points lines 151
// expect: readLeaders race=proved divergence=proved
// expect: readLeaders silent
// expect: readLeaders precondition "blockDim.x <= 256"
// expect: readFollowers race=possible divergence=proved
// expect: readFollowers finding memory/misaligned error on in lines 167
// expect: readFollowers precondition "blockDim.x <= 256"
//
// Vectors and wider types whose addresses depend on arguments, or on the number of the thread only.

#include <cuda_fp16.h>
#include <cuda_runtime.h>

// The rows start at multiples of 16 bytes only if the pitch is a multiple of 4.
__global__ void copyRows(float* out, const float* in, int pitch) {
  const float4 v = reinterpret_cast<const float4*>(in + blockIdx.x * pitch)[threadIdx.x];
  out[blockIdx.x * blockDim.x + threadIdx.x] = v.x + v.y + v.z + v.w;
}

// Other pitches take another path.
__global__ void copyRowsAnyPitch(float* out, const float* in, int pitch) {
  const float* row = in + blockIdx.x * pitch;
  float x;
  if (pitch % 4 == 0) {
    const float4 v = reinterpret_cast<const float4*>(row)[threadIdx.x];
    x = v.x + v.y + v.z + v.w;
  } else {
    x = row[4 * threadIdx.x];
  }
  out[blockIdx.x * blockDim.x + threadIdx.x] = x;
}

// selvage: assume(pitch % 4 == 0)
__global__ void copyRowsStated(float* out, const float* in, int pitch) {
  const float4 v = reinterpret_cast<const float4*>(in + blockIdx.x * pitch)[threadIdx.x];
  out[blockIdx.x * blockDim.x + threadIdx.x] = v.x + v.y + v.z + v.w;
}

// The pitch counts vectors.
__global__ void copyVectors(float* out, const float4* in, int pitch) {
  const float4 v = in[blockIdx.x * pitch + threadIdx.x];
  out[blockIdx.x * blockDim.x + threadIdx.x] = v.x + v.y + v.z + v.w;
}

// Doubles after a header of any number of floats.
__global__ void skipHeader(float* out, const float* in, int header) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  out[i] = reinterpret_cast<const double*>(in + header)[i];
}

// A launch with an odd header returns at once.
__global__ void skipEvenHeader(float* out, const float* in, int header) {
  if (header & 1) return;
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  out[i] = reinterpret_cast<const double*>(in + header)[i];
}

// Only the sum of the two parts has to be a multiple of 8 bytes.
__global__ void skipTwoParts(double* out, const char* in, int first, int second) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  out[i] = reinterpret_cast<const double*>(in + first + second)[i];
}

// The start is rounded up.
__global__ void skipRounded(double* out, const char* in, int header) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  out[i] = reinterpret_cast<const double*>(in + (header + 7) / 8 * 8)[i];
}

// Each thread takes four elements, then those of the next group.
__global__ void clearQuads(int* a, int n) {
  const int step = 4 * gridDim.x * blockDim.x;
  for (int i = 4 * (blockIdx.x * blockDim.x + threadIdx.x); i + 3 < n; i += step) *reinterpret_cast<int4*>(a + i) = make_int4(0, 0, 0, 0);
}

// Each thread starts one element after the one before it.
__global__ void readQuads(int* out, const int* in, int n) {
  for (int i = threadIdx.x; i + 3 < n; i += blockDim.x) {
    const int4 four = *reinterpret_cast<const int4*>(in + i);
    out[i] = four.x + four.y + four.z + four.w;
  }
}

// Rows of 40 halves: 80 bytes.
__global__ void loadMatrix(unsigned* out, const __half* in) {
  __shared__ __align__(16) __half tile[32][40];
  for (int i = 0; i < 32; ++i) tile[threadIdx.x][i] = in[32 * threadIdx.x + i];
  __syncwarp();
  unsigned x;
  const unsigned at = static_cast<unsigned>(__cvta_generic_to_shared(&tile[threadIdx.x % 8][0]));
  asm volatile("ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%0}, [%1];" : "=r"(x) : "r"(at));
  out[threadIdx.x] = x;
}

// Rows of 36 halves: 72 bytes, and each row of an `ldmatrix` needs a multiple of 16.
__global__ void loadMatrixPadded(unsigned* out, const __half* in) {
  __shared__ __align__(16) __half tile[32][36];
  for (int i = 0; i < 32; ++i) tile[threadIdx.x][i] = in[32 * threadIdx.x + i];
  __syncwarp();
  unsigned x;
  const unsigned at = static_cast<unsigned>(__cvta_generic_to_shared(&tile[threadIdx.x % 8][0]));
  asm volatile("ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%0}, [%1];" : "=r"(x) : "r"(at));
  out[threadIdx.x] = x;
}

struct Point {
  float x, y, z;
};

// Two points are 24 bytes.
__global__ void readPairs(float* out, const Point* points) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  out[i] = *reinterpret_cast<const double*>(&points[2 * i]);
}

// `y` and `z` of a point start 4 bytes after a multiple of 12.
__global__ void readPlanes(float* out, const Point* points) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  out[i] = *reinterpret_cast<const double*>(&points[i].y);
}

// Only each fourth thread takes a vector.
__global__ void readLeaders(float* out, const float* in) {
  const int t = threadIdx.x;
  if (t % 4 == 0) {
    const float4 v = *reinterpret_cast<const float4*>(in + blockIdx.x * 256 + t);
    out[blockIdx.x * 256 + t] = v.x + v.y + v.z + v.w;
  }
}

// Here it is the thread before each multiple of 4.
__global__ void readFollowers(float* out, const float* in) {
  const int t = threadIdx.x;
  if (t % 4 == 3) {
    const float4 v = *reinterpret_cast<const float4*>(in + blockIdx.x * 256 + t);
    out[blockIdx.x * 256 + t] = v.x + v.y + v.z + v.w;
  }
}
