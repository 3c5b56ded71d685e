// Layout of data: structures and arrays, padding, order of indices.

struct Body {
  float x, y, z, mass;
  float vx, vy, vz, charge;
};

// changes: structures decomposed into arrays
// better: sectors
#ifdef AFTER
__global__ void masses(const float *mass, const float *charge, float *out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    out[i] = mass[i] * charge[i];
}
void callMasses(const float *mass, const float *charge, float *out, int n) {
  masses<<<(n + 255) / 256, 256>>>(mass, charge, out, n);
}
#else
__global__ void masses(const Body *bodies, float *out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    out[i] = bodies[i].mass * bodies[i].charge;
}
void callMasses(const Body *bodies, float *out, int n) { masses<<<(n + 255) / 256, 256>>>(bodies, out, n); }
#endif

// changes: arrays combined into structures of which one member is read
// worse: sectors at `out[i] = 2.0f * bodies[i].x;`
#ifdef AFTER
__global__ void positions(const Body *bodies, float *out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    out[i] = 2.0f * bodies[i].x;
}
void callPositions(const Body *bodies, float *out, int n) { positions<<<(n + 255) / 256, 256>>>(bodies, out, n); }
#else
__global__ void positions(const float *x, float *out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    out[i] = 2.0f * x[i];
}
void callPositions(const float *x, float *out, int n) { positions<<<(n + 255) / 256, 256>>>(x, out, n); }
#endif

// changes: one more member in a structure that is partially read
// worse: sectors at `out[i] = p[i].x + p[i].y + p[i].z;`
struct Point {
  float x, y, z;
#ifdef AFTER
  float unused[3];
#endif
};
__global__ void sums(const Point *p, float *out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    out[i] = p[i].x + p[i].y + p[i].z;
}
void callSums(const Point *p, float *out, int n) { sums<<<(n + 255) / 256, 256>>>(p, out, n); }

// changes: rows become columns
// worse: sectors at `out[x * height + y] = in[x * height + y] * 0.5f;`
__global__ void halve(float *out, const float *in, int width, int height) {
  int x = blockIdx.x * 32 + threadIdx.x;
  int y = blockIdx.y * 8 + threadIdx.y;
  if (x < width && y < height)
#ifdef AFTER
    out[x * height + y] = in[x * height + y] * 0.5f;
#else
    out[y * width + x] = in[y * width + x] * 0.5f;
#endif
}
void callHalve(float *out, const float *in, int width, int height) {
  halve<<<dim3((width + 31) / 32, (height + 7) / 8), dim3(32, 8)>>>(out, in, width, height);
}

// changes: columns become rows
// better: sectors
__global__ void twice(float *out, const float *in, int width, int height) {
  int x = blockIdx.x * 32 + threadIdx.x;
  int y = blockIdx.y * 8 + threadIdx.y;
  if (x < width && y < height)
#ifdef AFTER
    out[y * width + x] = in[y * width + x] * 2.0f;
#else
    out[x * height + y] = in[x * height + y] * 2.0f;
#endif
}
void callTwice(float *out, const float *in, int width, int height) {
  twice<<<dim3((width + 31) / 32, (height + 7) / 8), dim3(32, 8)>>>(out, in, width, height);
}

// changes: an array is read in reverse
// neutral
__global__ void backward(float *out, const float *in) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
#ifdef AFTER
  out[i] = in[65535 - i];
#else
  out[i] = in[i];
#endif
}
void callBackward(float *out, const float *in) { backward<<<256, 256>>>(out, in); }

// changes: every second element is read
// worse: sectors at `out[i] = in[2 * i] + 1.0f;`
__global__ void sparse(float *out, const float *in, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
#ifdef AFTER
    out[i] = in[2 * i] + 1.0f;
#else
    out[i] = in[i] + 1.0f;
#endif
}
void callSparse(float *out, const float *in, int n) { sparse<<<(n + 127) / 128, 128>>>(out, in, n); }
