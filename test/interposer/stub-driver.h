/* The driver for tests, as programs see it: handles are pointers, structs are those of cuda.h. */
#ifndef SELVAGE_STUB_DRIVER_H
#define SELVAGE_STUB_DRIVER_H

#include <stddef.h>
#include <stdint.h>

typedef int R;

struct stub_attribute {
  unsigned id;
  char pad[4];
  uint64_t value[8];
};

struct stub_config {
  unsigned grid[3], block[3], shared;
  void *stream;
  struct stub_attribute *attributes;
  unsigned attribute_count;
};

struct stub_node {
  void *function;
  unsigned grid[3], block[3], shared;
  void **parameters, **extra;
  void *kernel, *context;
};

struct stub_ipc {
  char reserved[64];
};

/* A launch as the driver got it. */
struct stub_call {
  const char *form;
  void *function;
  unsigned grid[3], block[3], shared;
  void *stream;
  void **parameters, **extra;
  const struct stub_config *config;
};

uint64_t stub_launches(void);
const struct stub_call *stub_last_call(void);
void stub_set_context(void *context);
void stub_set_architecture(int architecture);
void stub_reuse_module(void *module);
void *stub_later_free(void);
R stub_add_conditional(void *graph);

R cuGetProcAddress(const char *symbol, void **function, int version, uint64_t flags);
R cuGetProcAddress_v2(const char *symbol, void **function, int version, uint64_t flags, int *status);
R cuLaunchKernel(void *f, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz, unsigned shared,
                 void *stream, void **parameters, void **extra);
R cuLaunchKernel_ptsz(void *f, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz,
                      unsigned shared, void *stream, void **parameters, void **extra);
R cuLaunchKernelEx(const struct stub_config *config, void *f, void **parameters, void **extra);
R cuLaunchCooperativeKernel(void *f, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz,
                            unsigned shared, void *stream, void **parameters);
R cuModuleLoad(void **module, const char *path);
R cuModuleLoadData(void **module, const void *image);
R cuModuleLoadFatBinary(void **module, const void *image);
R cuModuleUnload(void *module);
R cuModuleGetFunction(void **function, void *module, const char *name);
R cuLibraryLoadData(void **library, const void *code, int *jo, void **jv, unsigned jn, int *o, void **v, unsigned n);
R cuLibraryUnload(void *library);
R cuLibraryGetKernel(void **kernel, void *library, const char *name);
R cuLibraryGetModule(void **module, void *library);
R cuKernelGetFunction(void **function, void *kernel);
R cuLinkCreate_v2(unsigned n, int *o, void **v, void **state);
R cuLinkAddData_v2(void *s, int type, void *data, size_t bytes, const char *name, unsigned n, int *o, void **v);
R cuLinkComplete(void *state, void **cubin, size_t *bytes);
R cuLinkDestroy(void *state);
R cuCtxDestroy_v2(void *context);
R cuDevicePrimaryCtxReset_v2(int device);
R cuMemAlloc_v2(uint64_t *pointer, size_t bytes);
R cuMemAllocPitch_v2(uint64_t *pointer, size_t *pitch, size_t width, size_t height, unsigned element);
R cuMemAllocManaged(uint64_t *pointer, size_t bytes, unsigned flags);
R cuMemAllocAsync(uint64_t *pointer, size_t bytes, void *stream);
R cuMemFree_v2(uint64_t pointer);
R cuMemFreeAsync(uint64_t pointer, void *stream);
R cuMemHostRegister_v2(void *pointer, size_t bytes, unsigned flags);
R cuMemHostUnregister(void *pointer);
R cuMemHostGetDevicePointer_v2(uint64_t *pointer, void *host, unsigned flags);
R cuMemMap(uint64_t pointer, size_t bytes, size_t offset, uint64_t handle, uint64_t flags);
R cuMemUnmap(uint64_t pointer, size_t bytes);
R cuMemExportToShareableHandle(void *shareable, uint64_t handle, int type, uint64_t flags);
R cuIpcGetMemHandle(void *handle, uint64_t pointer);
R cuIpcOpenMemHandle_v2(uint64_t *pointer, struct stub_ipc handle, unsigned flags);
R cuIpcCloseMemHandle(uint64_t pointer);
R cuStreamCreate(void **stream, unsigned flags);
R cuStreamDestroy_v2(void *stream);
R cuStreamSynchronize(void *stream);
R cuCtxSynchronize(void);
R cuEventRecord(void *event, void *stream);
R cuStreamWaitEvent(void *stream, void *event, unsigned flags);
R cuEventSynchronize(void *event);
R cuEventDestroy_v2(void *event);
R cuStreamBeginCapture_v2(void *stream, int mode);
R cuStreamEndCapture(void *stream, void **graph);
R cuGraphCreate(void **graph, unsigned flags);
R cuGraphAddKernelNode_v2(void **node, void *graph, void *const *before, size_t count, const struct stub_node *p);
R cuGraphAddChildGraphNode(void **node, void *graph, void *const *before, size_t count, void *child);
R cuGraphInstantiateWithFlags(void **exec, void *graph, uint64_t flags);
R cuGraphExecKernelNodeSetParams_v2(void *exec, void *node, const struct stub_node *parameters);
R cuGraphExecUpdate_v2(void *exec, void *graph, void *info);
R cuGraphExecDestroy(void *exec);
R cuGraphLaunch(void *exec, void *stream);

#endif
