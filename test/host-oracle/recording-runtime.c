/*
 * A CUDA runtime that runs no kernel and writes each launch down. Host objects of nvcc link with it instead of
 * libcudart. Device memory is host memory, so that copies really copy. Calls that are not defined here are link errors.
 *
 * SELVAGE_RECORD names the file to which lines of JSON are appended, one per launch and one per allocation.
 * With SELVAGE_ORDER the record has the operations of streams, too, with the mark that the program has set last.
 * SELVAGE_PARAMETERS names a text with the sizes of the parameters of each kernel: `name size0 size1 ...`.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cuda_runtime_api.h>

#define OK return cudaSuccess

/* Kernels and variables, as the constructors of each object register them */

struct kernel {
  const void *stub;
  const char *name;
  int parameter_count; /* -1: not in SELVAGE_PARAMETERS */
  size_t *sizes;
  int max_dynamic_shared;
  struct kernel *next;
};

struct variable {
  const void *shadow;
  void *memory;
  size_t size;
  struct variable *next;
};

static struct kernel *kernels;
static struct variable *variables;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void read_sizes(struct kernel *kernel) {
  kernel->parameter_count = -1;
  const char *path = getenv("SELVAGE_PARAMETERS");
  FILE *file = path ? fopen(path, "r") : NULL;
  if (!file) return;
  char *line = NULL;
  size_t capacity = 0;
  while (getline(&line, &capacity, file) > 0) {
    char *state = NULL;
    char *word = strtok_r(line, " \n", &state);
    if (!word || strcmp(word, kernel->name) != 0) continue;
    kernel->parameter_count = 0;
    while ((word = strtok_r(NULL, " \n", &state))) {
      kernel->sizes = (size_t *)realloc(kernel->sizes, (kernel->parameter_count + 1) * sizeof(size_t));
      kernel->sizes[kernel->parameter_count++] = strtoull(word, NULL, 10);
    }
    break;
  }
  free(line);
  fclose(file);
}

/* A stub, or a handle that cudaGetFuncBySymbol or __cudaGetKernel returned. */
static struct kernel *find_kernel(const void *function) {
  for (struct kernel *kernel = kernels; kernel; kernel = kernel->next)
    if (kernel->stub == function || kernel == function) return kernel;
  return NULL;
}

static struct variable *find_variable(const void *symbol) {
  for (struct variable *variable = variables; variable; variable = variable->next)
    if (variable->shadow == symbol) return variable;
  return NULL;
}

void **__cudaRegisterFatBinary(void *binary) {
  void **handle = (void **)calloc(1, sizeof(void *));
  *handle = binary;
  return handle;
}
void __cudaRegisterFatBinaryEnd(void **handle) {}
void __cudaUnregisterFatBinary(void **handle) {}
char __cudaInitModule(void **handle) { return 1; }

void __cudaRegisterFunction(void **handle, const char *stub, char *device_function, const char *name, int limit,
                            uint3 *thread, uint3 *block, dim3 *block_size, dim3 *grid_size, int *warp_size) {
  struct kernel *kernel = (struct kernel *)calloc(1, sizeof *kernel);
  kernel->stub = stub;
  kernel->name = name;
  kernel->max_dynamic_shared = 48 * 1024;
  read_sizes(kernel);
  kernel->next = kernels;
  kernels = kernel;
}

static void register_variable(const void *shadow, void *memory, size_t size) {
  struct variable *variable = (struct variable *)calloc(1, sizeof *variable);
  variable->shadow = shadow;
  variable->memory = memory;
  variable->size = size;
  variable->next = variables;
  variables = variable;
}

void __cudaRegisterVar(void **handle, char *shadow, char *address, const char *name, int external, size_t size,
                       int constant, int global) {
  register_variable(shadow, shadow, size);
}
void __cudaRegisterManagedVar(void **handle, void **pointer, char *address, const char *name, int external,
                              size_t size, int constant, int global) {
  *pointer = calloc(1, size);
  register_variable(pointer, *pointer, size);
}

/* The record */

static FILE *record_file(void) {
  static FILE *file;
  const char *path = getenv("SELVAGE_RECORD");
  if (!file && path) file = fopen(path, "a");
  return file;
}

static int mark;

/* Called by programs whose operations are compared by their lines. */
void selvageMark(int number) { mark = number; }

static void record_operation(const char *call, const void *stream, const void *event, const void *to,
                             const void *from) {
  if (!getenv("SELVAGE_ORDER")) return;
  pthread_mutex_lock(&lock);
  FILE *out = record_file();
  if (out) {
    fprintf(out, "{\"operation\":\"%s\",\"mark\":%d,\"stream\":\"%llx\",\"event\":\"%llx\"", call, mark,
            (unsigned long long)(uintptr_t)stream, (unsigned long long)(uintptr_t)event);
    fprintf(out, ",\"to\":\"%llx\",\"from\":\"%llx\"}\n", (unsigned long long)(uintptr_t)to,
            (unsigned long long)(uintptr_t)from);
    fflush(out);
  }
  pthread_mutex_unlock(&lock);
}

static void record_launch(const void *function, dim3 grid, dim3 block, void **arguments, size_t shared,
                          const unsigned *cluster, bool cooperative, bool early) {
  pthread_mutex_lock(&lock);
  FILE *out = record_file();
  const struct kernel *kernel = find_kernel(function);
  if (out) {
    fprintf(out, "{\"kernel\":");
    if (kernel) fprintf(out, "\"%s\"", kernel->name);
    else fprintf(out, "null");
    fprintf(out, ",\"grid\":[%u,%u,%u],\"block\":[%u,%u,%u],\"shared\":%zu,\"cluster\":", grid.x, grid.y, grid.z,
            block.x, block.y, block.z, shared);
    if (cluster) fprintf(out, "[%u,%u,%u]", cluster[0], cluster[1], cluster[2]);
    else fprintf(out, "null");
    fprintf(out, ",\"cooperative\":%s,\"early\":%s,\"arguments\":", cooperative ? "true" : "false",
            early ? "true" : "false");
    if (kernel && kernel->parameter_count >= 0) {
      fprintf(out, "[");
      for (int i = 0; i < kernel->parameter_count; i++) {
        fprintf(out, "%s\"", i ? "," : "");
        for (size_t at = 0; at < kernel->sizes[i]; at++)
          fprintf(out, "%02x", ((const unsigned char *)arguments[i])[at]);
        fprintf(out, "\"");
      }
      fprintf(out, "]");
    } else {
      fprintf(out, "null");
    }
    fprintf(out, "}\n");
    fflush(out);
  }
  pthread_mutex_unlock(&lock);
}

/* Launches */

/* Configurations between <<<...>>> and the stub. Arguments of the stub may launch themselves. */
struct configuration {
  dim3 grid, block;
  size_t shared;
  cudaStream_t stream;
};
static __thread struct configuration configurations[64];
static __thread int configuration_count;

unsigned __cudaPushCallConfiguration(dim3 grid, dim3 block, size_t shared, struct CUstream_st *stream) {
  if (configuration_count == 64) abort();
  struct configuration *top = &configurations[configuration_count++];
  top->grid = grid;
  top->block = block;
  top->shared = shared;
  top->stream = stream;
  return 0;
}
cudaError_t __cudaPopCallConfiguration(dim3 *grid, dim3 *block, size_t *shared, void *stream) {
  if (configuration_count == 0) return cudaErrorMissingConfiguration;
  const struct configuration *top = &configurations[--configuration_count];
  *grid = top->grid;
  *block = top->block;
  *shared = top->shared;
  *(cudaStream_t *)stream = top->stream;
  OK;
}
cudaError_t __cudaGetKernel(cudaKernel_t *kernel, const void *function) {
  *kernel = (cudaKernel_t)find_kernel(function);
  return *kernel ? cudaSuccess : cudaErrorInvalidDeviceFunction;
}
cudaError_t __cudaLaunchKernel(cudaKernel_t kernel, dim3 grid, dim3 block, void **arguments, size_t shared,
                               cudaStream_t stream) {
  record_operation("launch", stream, NULL, NULL, NULL);
  record_launch(kernel, grid, block, arguments, shared, NULL, false, false);
  OK;
}
cudaError_t __cudaLaunchKernel_ptsz(cudaKernel_t kernel, dim3 grid, dim3 block, void **arguments, size_t shared,
                                    cudaStream_t stream) {
  return __cudaLaunchKernel(kernel, grid, block, arguments, shared, stream);
}
cudaError_t cudaLaunchKernel(const void *function, dim3 grid, dim3 block, void **arguments, size_t shared,
                             cudaStream_t stream) {
  record_operation("launch", stream, NULL, NULL, NULL);
  record_launch(function, grid, block, arguments, shared, NULL, false, false);
  OK;
}
cudaError_t cudaLaunchCooperativeKernel(const void *function, dim3 grid, dim3 block, void **arguments,
                                        size_t shared, cudaStream_t stream) {
  record_launch(function, grid, block, arguments, shared, NULL, true, false);
  OK;
}
cudaError_t cudaLaunchKernelExC(const cudaLaunchConfig_t *config, const void *function, void **arguments) {
  unsigned cluster[3];
  bool has_cluster = false, cooperative = false, early = false;
  for (unsigned i = 0; i < config->numAttrs; i++) {
    const cudaLaunchAttributeValue *value = &config->attrs[i].val;
    switch (config->attrs[i].id) {
      case cudaLaunchAttributeClusterDimension:
        cluster[0] = value->clusterDim.x;
        cluster[1] = value->clusterDim.y;
        cluster[2] = value->clusterDim.z;
        has_cluster = true;
        break;
      case cudaLaunchAttributeCooperative:
        cooperative = value->cooperative != 0;
        break;
      case cudaLaunchAttributeProgrammaticStreamSerialization:
        early = value->programmaticStreamSerializationAllowed != 0;
        break;
      default:
        break;
    }
  }
  record_launch(function, config->gridDim, config->blockDim, arguments, config->dynamicSmemBytes,
                has_cluster ? cluster : NULL, cooperative, early);
  OK;
}
cudaError_t cudaGetFuncBySymbol(cudaFunction_t *function, const void *symbol) {
  *function = (cudaFunction_t)find_kernel(symbol);
  return *function ? cudaSuccess : cudaErrorInvalidDeviceFunction;
}
cudaError_t cudaGetKernel(cudaKernel_t *kernel, const void *symbol) { return __cudaGetKernel(kernel, symbol); }
cudaError_t cudaLaunchHostFunc(cudaStream_t stream, cudaHostFn_t function, void *data) {
  function(data);
  OK;
}
cudaError_t cudaStreamAddCallback(cudaStream_t stream, cudaStreamCallback_t callback, void *data,
                                  unsigned flags) {
  callback(stream, cudaSuccess, data);
  OK;
}

/* Memory */

static cudaError_t allocate(void **pointer, size_t bytes, const char *call) {
  *pointer = calloc(1, bytes ? bytes : 1);
  if (!*pointer) return cudaErrorMemoryAllocation;
  pthread_mutex_lock(&lock);
  FILE *out = record_file();
  if (out) {
    fprintf(out, "{\"allocation\":\"0x%llx\",\"bytes\":%zu,\"call\":\"%s\"}\n", (unsigned long long)(uintptr_t)*pointer,
            bytes, call);
    fflush(out);
  }
  pthread_mutex_unlock(&lock);
  OK;
}

cudaError_t cudaMalloc(void **pointer, size_t bytes) { return allocate(pointer, bytes, "cudaMalloc"); }
cudaError_t cudaMallocManaged(void **pointer, size_t bytes, unsigned flags) {
  return allocate(pointer, bytes, "cudaMallocManaged");
}
cudaError_t cudaMallocHost(void **pointer, size_t bytes) { return allocate(pointer, bytes, "cudaMallocHost"); }
cudaError_t cudaHostAlloc(void **pointer, size_t bytes, unsigned flags) {
  return allocate(pointer, bytes, "cudaHostAlloc");
}
cudaError_t cudaMallocAsync(void **pointer, size_t bytes, cudaStream_t stream) {
  return allocate(pointer, bytes, "cudaMallocAsync");
}
cudaError_t cudaMallocFromPoolAsync(void **pointer, size_t bytes, cudaMemPool_t pool, cudaStream_t stream) {
  return allocate(pointer, bytes, "cudaMallocFromPoolAsync");
}
cudaError_t cudaMallocPitch(void **pointer, size_t *pitch, size_t width, size_t height) {
  *pitch = (width + 511) / 512 * 512;
  return allocate(pointer, *pitch * height, "cudaMallocPitch");
}
cudaError_t cudaMalloc3D(struct cudaPitchedPtr *pitched, struct cudaExtent extent) {
  pitched->xsize = extent.width;
  pitched->ysize = extent.height;
  pitched->pitch = (extent.width + 511) / 512 * 512;
  return allocate(&pitched->ptr, pitched->pitch * extent.height * extent.depth, "cudaMalloc3D");
}
cudaError_t cudaFree(void *pointer) {
  free(pointer);
  OK;
}
cudaError_t cudaFreeHost(void *pointer) { return cudaFree(pointer); }
cudaError_t cudaFreeAsync(void *pointer, cudaStream_t stream) { return cudaFree(pointer); }
cudaError_t cudaHostRegister(void *pointer, size_t bytes, unsigned flags) { OK; }
cudaError_t cudaHostUnregister(void *pointer) { OK; }
cudaError_t cudaHostGetDevicePointer(void **device, void *host, unsigned flags) {
  *device = host;
  OK;
}
cudaError_t cudaMemGetInfo(size_t *available, size_t *total) {
  *available = (size_t)79 << 30;
  *total = (size_t)80 << 30;
  OK;
}

cudaError_t cudaMemcpy(void *to, const void *from, size_t bytes, enum cudaMemcpyKind kind) {
  record_operation("cudaMemcpy", NULL, NULL, to, from);
  memmove(to, from, bytes);
  OK;
}
cudaError_t cudaMemcpyAsync(void *to, const void *from, size_t bytes, enum cudaMemcpyKind kind,
                            cudaStream_t stream) {
  record_operation("cudaMemcpyAsync", stream, NULL, to, from);
  memmove(to, from, bytes);
  OK;
}
cudaError_t cudaMemcpyPeer(void *to, int to_device, const void *from, int from_device, size_t bytes) {
  return cudaMemcpy(to, from, bytes, cudaMemcpyDefault);
}
cudaError_t cudaMemcpyPeerAsync(void *to, int to_device, const void *from, int from_device, size_t bytes,
                                cudaStream_t stream) {
  return cudaMemcpyPeer(to, to_device, from, from_device, bytes);
}
cudaError_t cudaMemcpy2D(void *to, size_t to_pitch, const void *from, size_t from_pitch, size_t width,
                         size_t height, enum cudaMemcpyKind kind) {
  for (size_t row = 0; row < height; row++)
    memmove((char *)to + row * to_pitch, (const char *)from + row * from_pitch, width);
  OK;
}
cudaError_t cudaMemcpy2DAsync(void *to, size_t to_pitch, const void *from, size_t from_pitch, size_t width,
                              size_t height, enum cudaMemcpyKind kind, cudaStream_t stream) {
  return cudaMemcpy2D(to, to_pitch, from, from_pitch, width, height, kind);
}
cudaError_t cudaMemset(void *pointer, int value, size_t bytes) {
  record_operation("cudaMemset", NULL, NULL, pointer, NULL);
  memset(pointer, value, bytes);
  OK;
}
cudaError_t cudaMemsetAsync(void *pointer, int value, size_t bytes, cudaStream_t stream) {
  return cudaMemset(pointer, value, bytes);
}
cudaError_t cudaMemset2D(void *pointer, size_t pitch, int value, size_t width, size_t height) {
  for (size_t row = 0; row < height; row++) memset((char *)pointer + row * pitch, value, width);
  OK;
}
cudaError_t cudaMemset2DAsync(void *pointer, size_t pitch, int value, size_t width, size_t height,
                              cudaStream_t stream) {
  return cudaMemset2D(pointer, pitch, value, width, height);
}
static cudaError_t copy_symbol(const void *symbol, void *to_host, const void *from_host, size_t bytes, size_t offset) {
  const struct variable *variable = find_variable(symbol);
  if (!variable) return cudaErrorInvalidSymbol;
  if (offset + bytes > variable->size) return cudaErrorInvalidValue;
  char *memory = (char *)variable->memory + offset;
  if (to_host) memcpy(to_host, memory, bytes);
  else memcpy(memory, from_host, bytes);
  OK;
}
cudaError_t cudaMemcpyToSymbol(const void *symbol, const void *from, size_t bytes, size_t offset,
                               enum cudaMemcpyKind kind) {
  return copy_symbol(symbol, NULL, from, bytes, offset);
}
cudaError_t cudaMemcpyToSymbolAsync(const void *symbol, const void *from, size_t bytes, size_t offset,
                                    enum cudaMemcpyKind kind, cudaStream_t stream) {
  return cudaMemcpyToSymbol(symbol, from, bytes, offset, kind);
}
cudaError_t cudaMemcpyFromSymbol(void *to, const void *symbol, size_t bytes, size_t offset,
                                 enum cudaMemcpyKind kind) {
  return copy_symbol(symbol, to, NULL, bytes, offset);
}
cudaError_t cudaMemcpyFromSymbolAsync(void *to, const void *symbol, size_t bytes, size_t offset,
                                      enum cudaMemcpyKind kind, cudaStream_t stream) {
  return cudaMemcpyFromSymbol(to, symbol, bytes, offset, kind);
}
cudaError_t cudaGetSymbolAddress(void **pointer, const void *symbol) {
  const struct variable *variable = find_variable(symbol);
  if (!variable) return cudaErrorInvalidSymbol;
  *pointer = variable->memory;
  OK;
}
cudaError_t cudaGetSymbolSize(size_t *size, const void *symbol) {
  const struct variable *variable = find_variable(symbol);
  if (!variable) return cudaErrorInvalidSymbol;
  *size = variable->size;
  OK;
}
cudaError_t cudaPointerGetAttributes(struct cudaPointerAttributes *attributes, const void *pointer) {
  memset(attributes, 0, sizeof *attributes);
  attributes->type = cudaMemoryTypeDevice;
  attributes->devicePointer = attributes->hostPointer = (void *)pointer;
  OK;
}
cudaError_t cudaMemAdvise(const void *pointer, size_t bytes, enum cudaMemoryAdvise advice,
                          struct cudaMemLocation location) { OK; }
cudaError_t cudaMemPrefetchAsync(const void *pointer, size_t bytes, struct cudaMemLocation location,
                                 unsigned flags, cudaStream_t stream) { OK; }

/* Arrays, textures and surfaces: kernels that would read them do not run */

struct array {
  size_t row_bytes, height;
  char *memory;
};

struct cudaChannelFormatDesc cudaCreateChannelDesc(int x, int y, int z, int w, enum cudaChannelFormatKind kind) {
  struct cudaChannelFormatDesc description = {x, y, z, w, kind};
  return description;
}
cudaError_t cudaMalloc3DArray(cudaArray_t *array, const struct cudaChannelFormatDesc *format, struct cudaExtent extent,
                              unsigned flags) {
  struct array *made = (struct array *)calloc(1, sizeof *made);
  size_t rows = extent.height ? extent.height : 1;
  made->row_bytes = extent.width * (size_t)((format->x + format->y + format->z + format->w) / 8);
  made->height = rows * (extent.depth ? extent.depth : 1);
  made->memory = (char *)calloc(made->height, made->row_bytes);
  *array = (cudaArray_t)made;
  OK;
}
cudaError_t cudaMallocArray(cudaArray_t *array, const struct cudaChannelFormatDesc *format, size_t width, size_t height,
                            unsigned flags) {
  struct cudaExtent extent = {width, height, 0};
  return cudaMalloc3DArray(array, format, extent, flags);
}
cudaError_t cudaFreeArray(cudaArray_t array) {
  if (array) free(((struct array *)array)->memory);
  return cudaFree(array);
}
cudaError_t cudaMemcpy2DToArray(cudaArray_t to, size_t x, size_t y, const void *from, size_t pitch, size_t width,
                                size_t height, enum cudaMemcpyKind kind) {
  struct array *array = (struct array *)to;
  if (x + width > array->row_bytes || y + height > array->height) return cudaErrorInvalidValue;
  return cudaMemcpy2D(array->memory + y * array->row_bytes + x, array->row_bytes, from, pitch, width, height, kind);
}
cudaError_t cudaMemcpyToArray(cudaArray_t to, size_t x, size_t y, const void *from, size_t bytes,
                              enum cudaMemcpyKind kind) {
  struct array *array = (struct array *)to;
  size_t start = y * array->row_bytes + x;
  if (start + bytes > array->row_bytes * array->height) return cudaErrorInvalidValue;
  return cudaMemcpy(array->memory + start, from, bytes, kind);
}
/* Copies into arrays are left out: no host code reads them back. */
cudaError_t cudaMemcpy3D(const struct cudaMemcpy3DParms *parameters) {
  const struct cudaMemcpy3DParms *p = parameters;
  if (p->srcArray || p->dstArray) OK;
  for (size_t z = 0; z < p->extent.depth; z++)
    cudaMemcpy2D((char *)p->dstPtr.ptr + z * p->dstPtr.pitch * p->dstPtr.ysize, p->dstPtr.pitch,
                 (char *)p->srcPtr.ptr + z * p->srcPtr.pitch * p->srcPtr.ysize, p->srcPtr.pitch, p->extent.width,
                 p->extent.height, p->kind);
  OK;
}
static unsigned long long next_object = 1;
cudaError_t cudaCreateTextureObject(cudaTextureObject_t *object, const struct cudaResourceDesc *resource,
                                    const struct cudaTextureDesc *texture, const struct cudaResourceViewDesc *view) {
  *object = next_object++;
  OK;
}
cudaError_t cudaDestroyTextureObject(cudaTextureObject_t object) { OK; }
cudaError_t cudaCreateSurfaceObject(cudaSurfaceObject_t *object, const struct cudaResourceDesc *resource) {
  *object = next_object++;
  OK;
}
cudaError_t cudaDestroySurfaceObject(cudaSurfaceObject_t object) { OK; }

/* Devices: one H100 */

static int current_device;

cudaError_t cudaGetDeviceCount(int *count) {
  *count = 1;
  OK;
}
cudaError_t cudaGetDevice(int *device) {
  *device = current_device;
  OK;
}
cudaError_t cudaSetDevice(int device) {
  if (device != 0) return cudaErrorInvalidDevice;
  current_device = device;
  OK;
}
cudaError_t cudaSetDeviceFlags(unsigned flags) { OK; }
cudaError_t cudaDeviceReset(void) { OK; }
cudaError_t cudaDeviceSynchronize(void) {
  record_operation("cudaDeviceSynchronize", NULL, NULL, NULL, NULL);
  OK;
}
cudaError_t cudaDeviceSetLimit(enum cudaLimit limit, size_t value) { OK; }
cudaError_t cudaDeviceSetCacheConfig(enum cudaFuncCache config) { OK; }
cudaError_t cudaDeviceCanAccessPeer(int *can, int device, int peer) {
  *can = 0;
  OK;
}
cudaError_t cudaDeviceEnablePeerAccess(int peer, unsigned flags) { OK; }
cudaError_t cudaDeviceDisablePeerAccess(int peer) { OK; }
cudaError_t cudaDriverGetVersion(int *version) {
  *version = 13000;
  OK;
}
cudaError_t cudaRuntimeGetVersion(int *version) {
  *version = CUDART_VERSION;
  OK;
}
cudaError_t cudaGetDeviceProperties(struct cudaDeviceProp *properties, int device) {
  if (device != 0) return cudaErrorInvalidDevice;
  memset(properties, 0, sizeof *properties);
  strcpy(properties->name, "NVIDIA H100 80GB HBM3");
  properties->totalGlobalMem = (size_t)80 << 30;
  properties->sharedMemPerBlock = 48 * 1024;
  properties->sharedMemPerBlockOptin = 227 * 1024;
  properties->sharedMemPerMultiprocessor = 228 * 1024;
  properties->reservedSharedMemPerBlock = 1024;
  properties->regsPerBlock = properties->regsPerMultiprocessor = 65536;
  properties->warpSize = 32;
  properties->maxThreadsPerBlock = 1024;
  properties->maxThreadsDim[0] = properties->maxThreadsDim[1] = 1024;
  properties->maxThreadsDim[2] = 64;
  properties->maxGridSize[0] = 2147483647;
  properties->maxGridSize[1] = properties->maxGridSize[2] = 65535;
  properties->totalConstMem = 65536;
  properties->major = 9;
  properties->minor = 0;
  properties->multiProcessorCount = 132;
  properties->maxThreadsPerMultiProcessor = 2048;
  properties->maxBlocksPerMultiProcessor = 32;
  properties->l2CacheSize = 50 * 1024 * 1024;
  properties->memoryBusWidth = 5120;
  properties->memPitch = 2147483647;
  properties->textureAlignment = 512;
  properties->asyncEngineCount = 3;
  properties->concurrentKernels = properties->unifiedAddressing = properties->managedMemory = 1;
  properties->concurrentManagedAccess = properties->cooperativeLaunch = properties->canMapHostMemory = 1;
  properties->memoryPoolsSupported = properties->clusterLaunch = 1;
  OK;
}
cudaError_t cudaDeviceGetAttribute(int *value, enum cudaDeviceAttr attribute, int device) {
  struct cudaDeviceProp properties;
  if (cudaGetDeviceProperties(&properties, device) != cudaSuccess) return cudaErrorInvalidDevice;
  switch (attribute) {
    case cudaDevAttrMaxThreadsPerBlock: *value = properties.maxThreadsPerBlock; break;
    case cudaDevAttrMaxBlockDimX: *value = properties.maxThreadsDim[0]; break;
    case cudaDevAttrMaxBlockDimY: *value = properties.maxThreadsDim[1]; break;
    case cudaDevAttrMaxBlockDimZ: *value = properties.maxThreadsDim[2]; break;
    case cudaDevAttrMaxGridDimX: *value = properties.maxGridSize[0]; break;
    case cudaDevAttrMaxGridDimY: *value = properties.maxGridSize[1]; break;
    case cudaDevAttrMaxGridDimZ: *value = properties.maxGridSize[2]; break;
    case cudaDevAttrMaxSharedMemoryPerBlock: *value = (int)properties.sharedMemPerBlock; break;
    case cudaDevAttrMaxSharedMemoryPerBlockOptin: *value = (int)properties.sharedMemPerBlockOptin; break;
    case cudaDevAttrMaxSharedMemoryPerMultiprocessor: *value = (int)properties.sharedMemPerMultiprocessor; break;
    case cudaDevAttrReservedSharedMemoryPerBlock: *value = (int)properties.reservedSharedMemPerBlock; break;
    case cudaDevAttrWarpSize: *value = properties.warpSize; break;
    case cudaDevAttrMaxRegistersPerBlock: *value = properties.regsPerBlock; break;
    case cudaDevAttrMaxRegistersPerMultiprocessor: *value = properties.regsPerMultiprocessor; break;
    case cudaDevAttrMultiProcessorCount: *value = properties.multiProcessorCount; break;
    case cudaDevAttrMaxThreadsPerMultiProcessor: *value = properties.maxThreadsPerMultiProcessor; break;
    case cudaDevAttrMaxBlocksPerMultiprocessor: *value = properties.maxBlocksPerMultiProcessor; break;
    case cudaDevAttrComputeCapabilityMajor: *value = properties.major; break;
    case cudaDevAttrComputeCapabilityMinor: *value = properties.minor; break;
    case cudaDevAttrClockRate: *value = 1980000; break;
    case cudaDevAttrMemoryClockRate: *value = 2619000; break;
    case cudaDevAttrGlobalMemoryBusWidth: *value = properties.memoryBusWidth; break;
    case cudaDevAttrL2CacheSize: *value = properties.l2CacheSize; break;
    case cudaDevAttrTotalConstantMemory: *value = (int)properties.totalConstMem; break;
    case cudaDevAttrComputeMode: *value = 0; break;
    case cudaDevAttrUnifiedAddressing:
    case cudaDevAttrManagedMemory:
    case cudaDevAttrConcurrentManagedAccess:
    case cudaDevAttrConcurrentKernels:
    case cudaDevAttrCooperativeLaunch:
    case cudaDevAttrCanMapHostMemory:
    case cudaDevAttrMemoryPoolsSupported: *value = 1; break;
    default: *value = 0;
  }
  OK;
}

/* Functions and occupancy */

cudaError_t cudaFuncSetAttribute(const void *function, enum cudaFuncAttribute attribute, int value) {
  struct kernel *kernel = find_kernel(function);
  if (!kernel) return cudaErrorInvalidDeviceFunction;
  if (attribute == cudaFuncAttributeMaxDynamicSharedMemorySize) kernel->max_dynamic_shared = value;
  OK;
}
cudaError_t cudaFuncSetCacheConfig(const void *function, enum cudaFuncCache config) { OK; }
cudaError_t cudaFuncGetAttributes(struct cudaFuncAttributes *attributes, const void *function) {
  const struct kernel *kernel = find_kernel(function);
  if (!kernel) return cudaErrorInvalidDeviceFunction;
  memset(attributes, 0, sizeof *attributes);
  attributes->maxThreadsPerBlock = 1024;
  attributes->numRegs = 32;
  attributes->ptxVersion = attributes->binaryVersion = 90;
  attributes->maxDynamicSharedSizeBytes = kernel->max_dynamic_shared;
  OK;
}
cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int *blocks, const void *function,
                                                                   int block_size, size_t shared,
                                                                   unsigned flags) {
  if (!find_kernel(function)) return cudaErrorInvalidDeviceFunction;
  if (block_size < 1) return cudaErrorInvalidValue;
  int threads = (block_size + 31) / 32 * 32;
  int most = 2048 / threads < 32 ? 2048 / threads : 32;
  int by_shared = (int)(228 * 1024 / (shared + 1024));
  *blocks = by_shared < most ? by_shared : most;
  OK;
}
cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, const void *function, int block_size,
                                                          size_t shared) {
  return cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(blocks, function, block_size, shared, 0);
}
cudaError_t cudaOccupancyMaxActiveClusters(int *clusters, const void *function,
                                           const cudaLaunchConfig_t *config) {
  *clusters = 66;
  OK;
}
cudaError_t cudaOccupancyMaxPotentialClusterSize(int *size, const void *function,
                                                 const cudaLaunchConfig_t *config) {
  *size = 8;
  OK;
}

/* Streams and events: all work is finished when it is submitted */

static void *new_handle(void) { return calloc(1, 1); }

cudaError_t cudaStreamCreateWithFlags(cudaStream_t *stream, unsigned flags) {
  *stream = (cudaStream_t)new_handle();
  record_operation(flags & cudaStreamNonBlocking ? "separate stream" : "stream", *stream, NULL, NULL, NULL);
  OK;
}
cudaError_t cudaStreamCreate(cudaStream_t *stream) { return cudaStreamCreateWithFlags(stream, 0); }
cudaError_t cudaStreamCreateWithPriority(cudaStream_t *stream, unsigned flags, int priority) {
  return cudaStreamCreateWithFlags(stream, flags);
}
cudaError_t cudaDeviceGetStreamPriorityRange(int *least, int *greatest) {
  *least = 0;
  *greatest = -5;
  OK;
}
cudaError_t cudaStreamDestroy(cudaStream_t stream) { return cudaFree(stream); }
cudaError_t cudaStreamSynchronize(cudaStream_t stream) {
  record_operation("cudaStreamSynchronize", stream, NULL, NULL, NULL);
  OK;
}
cudaError_t cudaStreamQuery(cudaStream_t stream) { OK; }
cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned flags) {
  record_operation("cudaStreamWaitEvent", stream, event, NULL, NULL);
  OK;
}
cudaError_t cudaStreamAttachMemAsync(cudaStream_t stream, void *pointer, size_t bytes, unsigned flags) { OK; }
cudaError_t cudaStreamSetAttribute(cudaStream_t stream, cudaLaunchAttributeID attribute,
                                   const cudaLaunchAttributeValue *value) {
  OK;
}
cudaError_t cudaCtxResetPersistingL2Cache(void) { OK; }
cudaError_t cudaThreadExchangeStreamCaptureMode(enum cudaStreamCaptureMode *mode) { OK; }
cudaError_t cudaStreamIsCapturing(cudaStream_t stream, enum cudaStreamCaptureStatus *status) {
  *status = cudaStreamCaptureStatusNone;
  OK;
}
cudaError_t cudaEventCreate(cudaEvent_t *event) {
  *event = (cudaEvent_t)new_handle();
  OK;
}
cudaError_t cudaEventCreateWithFlags(cudaEvent_t *event, unsigned flags) {
  return cudaEventCreate(event);
}
cudaError_t cudaEventDestroy(cudaEvent_t event) { return cudaFree(event); }
cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream) {
  record_operation("cudaEventRecord", stream, event, NULL, NULL);
  OK;
}
cudaError_t cudaEventSynchronize(cudaEvent_t event) {
  record_operation("cudaEventSynchronize", NULL, event, NULL, NULL);
  OK;
}
cudaError_t cudaEventQuery(cudaEvent_t event) { OK; }
cudaError_t cudaEventElapsedTime(float *milliseconds, cudaEvent_t start, cudaEvent_t end) {
  *milliseconds = 1.0f;
  OK;
}
cudaError_t cudaProfilerStart(void) { OK; }
cudaError_t cudaProfilerStop(void) { OK; }

/* Errors: no call of a valid program fails */

cudaError_t cudaGetLastError(void) { OK; }
cudaError_t cudaPeekAtLastError(void) { OK; }
const char *cudaGetErrorString(cudaError_t error) { return error == cudaSuccess ? "no error" : "an error"; }
const char *cudaGetErrorName(cudaError_t error) { return error == cudaSuccess ? "cudaSuccess" : "cudaError"; }
