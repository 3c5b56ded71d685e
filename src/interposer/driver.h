/*
 * The functions of the CUDA driver API that the interposer stands in for, and those that it calls. Handles are
 * `void *`, device addresses `uint64_t`.
 */
#ifndef SELVAGE_DRIVER_H
#define SELVAGE_DRIVER_H

#include "driver-types.h"

#pragma GCC visibility push(default)

typedef driver_result R;

/* Twice: on the legacy default stream, and on that of the thread. */
#define PER_THREAD(name, ...) \
  R name(__VA_ARGS__);        \
  R name##_ptsz(__VA_ARGS__);

R cuGetProcAddress(const char *symbol, void **function, int version, uint64_t flags);
R cuGetProcAddress_v2(const char *symbol, void **function, int version, uint64_t flags, int *status);

PER_THREAD(cuLaunchKernel, void *f, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz,
           unsigned shared, void *stream, void **parameters, void **extra)
PER_THREAD(cuLaunchKernelEx, const struct driver_launch_config *config, void *f, void **parameters, void **extra)
PER_THREAD(cuLaunchCooperativeKernel, void *f, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by,
           unsigned bz, unsigned shared, void *stream, void **parameters)

R cuModuleLoad(void **module, const char *path);
R cuModuleLoadData(void **module, const void *image);
R cuModuleLoadDataEx(void **module, const void *image, unsigned count, int *options, void **values);
R cuModuleLoadFatBinary(void **module, const void *image);
R cuModuleUnload(void *module);
R cuModuleGetFunction(void **function, void *module, const char *name);
R cuLibraryLoadData(void **library, const void *code, int *jit_options, void **jit_values, unsigned jit_count,
                    int *options, void **values, unsigned count);
R cuLibraryLoadFromFile(void **library, const char *path, int *jit_options, void **jit_values, unsigned jit_count,
                        int *options, void **values, unsigned count);
R cuLibraryUnload(void *library);
R cuLibraryGetKernel(void **kernel, void *library, const char *name);
R cuLibraryGetModule(void **module, void *library);
R cuKernelGetFunction(void **function, void *kernel);
R cuLinkCreate_v2(unsigned count, int *options, void **values, void **state);
R cuLinkAddData_v2(void *state, int type, void *data, size_t bytes, const char *name, unsigned count, int *options,
                   void **values);
R cuLinkAddFile_v2(void *state, int type, const char *path, unsigned count, int *options, void **values);
R cuLinkComplete(void *state, void **cubin, size_t *bytes);
R cuLinkDestroy(void *state);
R cuCtxDestroy(void *context);
R cuCtxDestroy_v2(void *context);
R cuDevicePrimaryCtxReset(int device);
R cuDevicePrimaryCtxReset_v2(int device);
R cuDevicePrimaryCtxRelease(int device);
R cuDevicePrimaryCtxRelease_v2(int device);

R cuMemAlloc_v2(uint64_t *pointer, size_t bytes);
R cuMemAllocPitch_v2(uint64_t *pointer, size_t *pitch, size_t width, size_t height, unsigned element);
R cuMemAllocManaged(uint64_t *pointer, size_t bytes, unsigned flags);
PER_THREAD(cuMemAllocAsync, uint64_t *pointer, size_t bytes, void *stream)
PER_THREAD(cuMemAllocFromPoolAsync, uint64_t *pointer, size_t bytes, void *pool, void *stream)
R cuMemFree_v2(uint64_t pointer);
PER_THREAD(cuMemFreeAsync, uint64_t pointer, void *stream)
R cuMemAllocHost_v2(void **pointer, size_t bytes);
R cuMemHostAlloc(void **pointer, size_t bytes, unsigned flags);
R cuMemFreeHost(void *pointer);
R cuMemHostRegister(void *pointer, size_t bytes, unsigned flags);
R cuMemHostRegister_v2(void *pointer, size_t bytes, unsigned flags);
R cuMemHostUnregister(void *pointer);
R cuMemHostGetDevicePointer_v2(uint64_t *pointer, void *host, unsigned flags);
R cuMemMap(uint64_t pointer, size_t bytes, size_t offset, uint64_t handle, uint64_t flags);
R cuMemUnmap(uint64_t pointer, size_t bytes);
R cuMemRetainAllocationHandle(uint64_t *handle, void *address);
R cuMemExportToShareableHandle(void *shareable, uint64_t handle, int type, uint64_t flags);
R cuMemImportFromShareableHandle(uint64_t *handle, void *shareable, int type);
R cuMulticastBindMem(uint64_t multicast, size_t at, uint64_t handle, size_t offset, size_t bytes, uint64_t flags);
R cuMulticastBindAddr(uint64_t multicast, size_t at, uint64_t pointer, size_t bytes, uint64_t flags);
R cuIpcGetMemHandle(void *handle, uint64_t pointer);
R cuIpcOpenMemHandle(uint64_t *pointer, struct driver_ipc_handle handle, unsigned flags);
R cuIpcOpenMemHandle_v2(uint64_t *pointer, struct driver_ipc_handle handle, unsigned flags);
R cuIpcCloseMemHandle(uint64_t pointer);
R cuMemPoolExportPointer(void *data, uint64_t pointer);
R cuMemPoolImportPointer(uint64_t *pointer, void *pool, void *data);
R cuExternalMemoryGetMappedBuffer(uint64_t *pointer, void *memory, const struct driver_external_buffer *buffer);
R cuGraphicsResourceGetMappedPointer_v2(uint64_t *pointer, size_t *bytes, void *resource);

R cuStreamCreate(void **stream, unsigned flags);
R cuStreamCreateWithPriority(void **stream, unsigned flags, int priority);
R cuStreamDestroy(void *stream);
R cuStreamDestroy_v2(void *stream);
PER_THREAD(cuStreamSynchronize, void *stream)
PER_THREAD(cuStreamQuery, void *stream)
PER_THREAD(cuStreamWaitEvent, void *stream, void *event, unsigned flags)
R cuCtxSynchronize(void);
R cuCtxSynchronize_v2(void *context);
PER_THREAD(cuEventRecord, void *event, void *stream)
PER_THREAD(cuEventRecordWithFlags, void *event, void *stream, unsigned flags)
R cuEventSynchronize(void *event);
R cuEventQuery(void *event);
R cuEventDestroy(void *event);
R cuEventDestroy_v2(void *event);
PER_THREAD(cuStreamBeginCapture, void *stream)
PER_THREAD(cuStreamBeginCapture_v2, void *stream, int mode)
PER_THREAD(cuStreamBeginCaptureToGraph, void *stream, void *graph, const void **dependencies, const void *data,
           size_t count, int mode)
PER_THREAD(cuStreamEndCapture, void *stream, void **graph)

R cuGraphInstantiate(void **exec, void *graph, void **error, char *log, size_t bytes);
R cuGraphInstantiate_v2(void **exec, void *graph, void **error, char *log, size_t bytes);
R cuGraphInstantiateWithFlags(void **exec, void *graph, uint64_t flags);
PER_THREAD(cuGraphInstantiateWithParams, void **exec, void *graph, struct driver_instantiate *parameters)
R cuGraphExecDestroy(void *exec);
PER_THREAD(cuGraphLaunch, void *exec, void *stream)
R cuGraphExecKernelNodeSetParams(void *exec, void *node, const struct driver_kernel_node *parameters);
R cuGraphExecKernelNodeSetParams_v2(void *exec, void *node, const struct driver_kernel_node *parameters);
R cuGraphExecUpdate(void *exec, void *graph, void **error, int *result);
R cuGraphExecUpdate_v2(void *exec, void *graph, void *result);
R cuGraphExecNodeSetParams(void *exec, void *node, struct driver_node *parameters);
R cuGraphExecChildGraphNodeSetParams(void *exec, void *node, void *child);

/* Only called: */
R cuCtxGetCurrent(void **context);
R cuDevicePrimaryCtxGetState(int device, unsigned *flags, int *active);
R cuDeviceGetCount(int *count);
R cuDeviceGet(int *device, int ordinal);
R cuDeviceGetAttribute(int *value, int attribute, int device);
R cuFuncGetModule(void **module, void *function);
R cuFuncGetName(const char **name, void *function);
R cuFuncGetParamInfo(void *function, size_t index, size_t *offset, size_t *bytes);
R cuKernelGetLibrary(void **library, void *kernel);
R cuKernelGetName(const char **name, void *kernel);
R cuKernelGetParamInfo(void *kernel, size_t index, size_t *offset, size_t *bytes);
R cuModuleGetGlobal_v2(uint64_t *pointer, size_t *bytes, void *module, const char *name);
R cuLibraryGetGlobal(uint64_t *pointer, size_t *bytes, void *library, const char *name);
PER_THREAD(cuStreamIsCapturing, void *stream, int *status)
R cuGraphGetNodes(void *graph, void **nodes, size_t *count);
R cuGraphGetEdges(void *graph, void **from, void **to, size_t *count);
R cuGraphNodeGetType(void *node, int *type);
R cuGraphKernelNodeGetParams(void *node, struct driver_kernel_node *parameters);
R cuGraphKernelNodeGetParams_v2(void *node, struct driver_kernel_node *parameters);
R cuGraphKernelNodeGetAttribute(void *node, int attribute, void *value);
R cuMemGetAddressRange_v2(uint64_t *start, size_t *bytes, uint64_t pointer);
R cuGraphChildGraphNodeGetGraph(void *node, void **graph);

#pragma GCC visibility pop

#endif
