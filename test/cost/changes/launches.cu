// The same kernel with other launches.

// changes: blocks of 128 threads instead of 256, twice the number of blocks
// neutral
__global__ void fill(float *out, float v) { out[blockIdx.x * blockDim.x + threadIdx.x] = v; }
#ifdef AFTER
void callFill(float *out) { fill<<<512, 128>>>(out, 1.0f); }
#else
void callFill(float *out) { fill<<<256, 256>>>(out, 1.0f); }
#endif

// changes: blocks that are high instead of wide
// worse: sectors at the launch
__global__ void copy(float *out, const float *in) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  out[y * 256 + x] = in[y * 256 + x];
}
#ifdef AFTER
void callCopy(float *out, const float *in) { copy<<<dim3(128, 1), dim3(2, 256)>>>(out, in); }
#else
void callCopy(float *out, const float *in) { copy<<<dim3(8, 32), dim3(32, 8)>>>(out, in); }
#endif

// changes: blocks that are wide instead of high
// better: sectors
__global__ void move(float *out, const float *in) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  out[y * 256 + x] = in[y * 256 + x];
}
#ifdef AFTER
void callMove(float *out, const float *in) { move<<<dim3(8, 32), dim3(32, 8)>>>(out, in); }
#else
void callMove(float *out, const float *in) { move<<<dim3(128, 1), dim3(2, 256)>>>(out, in); }
#endif

// changes: the rounding of the grid
// neutral
__global__ void negate(float *out, const float *in, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    out[i] = -in[i];
}
#ifdef AFTER
void callNegate(float *out, const float *in, int n) { negate<<<n / 256 + (n % 256 != 0), 256>>>(out, in, n); }
#else
void callNegate(float *out, const float *in, int n) { negate<<<(n + 255) / 256, 256>>>(out, in, n); }
#endif

// changes: every block does all of the work
// worse: sectors
__global__ void fillRow(float *out, int n) {
#ifdef AFTER
  for (int i = threadIdx.x; i < n; i += blockDim.x)
#else
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
#endif
    out[i] = 1.0f;
}
void callFillRow(float *out) { fillRow<<<8, 128>>>(out, 8192); }

// changes: a block of 96 threads of which 64 work
// worse: steps
__global__ void part(float *out, const float *in) {
  int i = blockIdx.x * 64 + threadIdx.x;
  float v = 0.0f;
#pragma unroll 1
  for (int k = 0; k < 32; k++)
    v = v * 0.5f + k;
  if (threadIdx.x < 64)
    out[i] = in[i] + v;
}
#ifdef AFTER
void callPart(float *out, const float *in) { part<<<64, 128>>>(out, in); }
#else
void callPart(float *out, const float *in) { part<<<64, 64>>>(out, in); }
#endif

// changes: blocks of 32 threads instead of 256, eight times the number of blocks
// worse: occupancy
__global__ void paint(float *out, float v) { out[blockIdx.x * blockDim.x + threadIdx.x] = v; }
#ifdef AFTER
void callPaint(float *out) { paint<<<2048, 32>>>(out, 1.0f); }
#else
void callPaint(float *out) { paint<<<256, 256>>>(out, 1.0f); }
#endif

// changes: launch bounds that leave too few registers
// worse: spillBytes
#ifdef AFTER
#define BOUNDS __launch_bounds__(256, 8)
#else
#define BOUNDS __launch_bounds__(256)
#endif
__global__ void BOUNDS gather(float *out, const float *in, const int *at) {
  float v[40];
#pragma unroll
  for (int k = 0; k < 40; k++)
    v[k] = in[k * 16384 + blockIdx.x * 256 + threadIdx.x];
  __syncthreads();
  float s = 0;
#pragma unroll
  for (int k = 0; k < 40; k++)
    s += v[k] * v[(k * 7 + 3) % 40] + v[39 - k];
  out[blockIdx.x * 256 + threadIdx.x] = s;
}
void callGather(float *out, const float *in, const int *at) { gather<<<64, 256>>>(out, in, at); }

// changes: ten times the shared memory
// worse: occupancy
#ifdef AFTER
#define ROOM 10240
#else
#define ROOM 1024
#endif
__global__ void shiftUp(float *out, const float *in) {
  __shared__ float tile[ROOM];
  for (int k = threadIdx.x; k < 1024; k += 256)
    tile[k] = in[blockIdx.x * 1024 + k];
  __syncthreads();
  for (int k = threadIdx.x; k < 1024; k += 256)
    out[blockIdx.x * 1024 + k] = tile[(k + ROOM / 1024) % 1024];
}
void callShiftUp(float *out, const float *in) { shiftUp<<<64, 256>>>(out, in); }

// changes: a tile is twice as wide and a thread copies two elements; the grid is made of a height that the kernel never reads
// neutral
#ifdef AFTER
#define TILE 32
#else
#define TILE 16
#endif
__global__ void copyTiles(float *out, const float *in, int width, int height) {
  int at = blockIdx.x * TILE + threadIdx.x + width * (blockIdx.y * TILE + threadIdx.y);
  for (int i = 0; i < TILE; i += 16)
    out[at + i * width] = in[at + i * width];
}
void callCopyTiles(float *out, const float *in, int width, int height) {
  copyTiles<<<dim3(width / TILE, height / TILE), dim3(TILE, 16)>>>(out, in, width, height);
}
