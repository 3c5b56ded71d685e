// Kernels that read textures, which other code binds to memory.

__global__ void sample(cudaTextureObject_t image, float* out, int width, int height) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x < width && y < height) out[y * width + x] = tex2D<float>(image, x + 0.5f, y + 0.5f);
}

__global__ void addTexture(cudaTextureObject_t line, float* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] += tex1Dfetch<float>(line, i);
}

// The address of the texture read depends on an element that is changed in place.
__global__ void limitByTexture(cudaTextureObject_t line, float* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = fmaxf(out[i], tex1Dfetch<float>(line, (int)out[i]));
}

struct Images {
  cudaTextureObject_t first, second;
};

__global__ void blend(Images images, float* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = tex1Dfetch<float>(images.first, i) + tex1Dfetch<float>(images.second, i);
}

__global__ void oneOfTable(const cudaTextureObject_t* table, float* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = tex1Dfetch<float>(table[0], i);
}

__global__ void oneOfTwo(cudaTextureObject_t first, cudaTextureObject_t second, float* out, int isFirst) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  out[i] = tex1Dfetch<float>(isFirst ? first : second, i);
}
