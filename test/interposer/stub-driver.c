/*
 * A CUDA driver for tests: libcuda.so.1 that runs nothing. It hands out handles, keeps graphs, counts launches and keeps the
 * last one of each thread. Build it with -Wl,-Bsymbolic: like the driver, it calls itself and not who stands before it.
 */
#define _GNU_SOURCE
#include "stub-driver.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

enum { HANDLES = 1 << 12, NODES = 64 };

static _Atomic uint64_t launches;
static _Thread_local struct stub_call last_call;
static _Thread_local void *current_context = (void *)0x51;
static _Atomic int architecture = 80;

uint64_t stub_launches(void) { return launches; }
const struct stub_call *stub_last_call(void) { return &last_call; }
void stub_set_context(void *context) { current_context = context; }
void stub_set_architecture(int value) { architecture = value; }

/* ---- Devices, modules and functions ---- */

static const struct stub_kernel {
  const char *name;
  unsigned count;
  struct {
    size_t offset, bytes;
  } parameters[4];
} kernels[] = {
    {"vectorAdd", 4, {{0, 8}, {8, 8}, {16, 8}, {24, 4}}}, {"vectorInc", 2, {{0, 8}, {8, 4}}},
    {"fill", 2, {{0, 8}, {8, 4}}},                        {"useSymbol", 1, {{0, 8}}},
    {"nothing", 0, {{0, 0}}},                             {"unjudged", 2, {{0, 8}, {8, 4}}},
    {"misfit", 2, {{0, 8}, {8, 4}}},
};
enum { KERNELS = sizeof kernels / sizeof *kernels };

static _Atomic uintptr_t next_module = 1;
static _Atomic uintptr_t reused_module;

/* The next module that is loaded gets this handle. */
void stub_reuse_module(void *module) { reused_module = (uintptr_t)module; }

static R load(void **module) {
  uintptr_t reused = atomic_exchange(&reused_module, 0);
  *module = (void *)(reused ? reused : atomic_fetch_add(&next_module, 1) << 8);
  return 0;
}

R cuInit(unsigned flags) { return flags != 0; }
R cuCtxGetCurrent(void **context) { return *context = current_context, 0; }
R cuDeviceGetCount(int *count) { return *count = 1, 0; }
R cuDeviceGet(int *device, int ordinal) { return *device = ordinal, 0; }
R cuDeviceGetAttribute(int *value, int attribute, int device) {
  *value = attribute == 75 ? architecture / 10 : attribute == 76 ? architecture % 10 : 0;
  return device;
}
R cuModuleLoad(void **module, const char *path) { return path ? load(module) : 1; }
R cuModuleLoadData(void **module, const void *image) { return image ? load(module) : 1; }
R cuModuleLoadDataEx(void **module, const void *image, unsigned n, int *o, void **v) {
  return (void)n, (void)o, (void)v, image ? load(module) : 1;
}
R cuModuleLoadFatBinary(void **module, const void *image) { return image ? load(module) : 1; }
R cuModuleUnload(void *module) { return module == NULL; }
R cuModuleGetFunction(void **function, void *module, const char *name) {
  for (unsigned i = 0; i < KERNELS; i++) {
    if (strcmp(name, kernels[i].name) == 0) return *function = (char *)module + i + 1, 0;
  }
  return 500;
}
R cuModuleGetGlobal_v2(uint64_t *pointer, size_t *bytes, void *module, const char *name) {
  *pointer = 0x900000000 + (uintptr_t)module;
  *bytes = 64;
  return strcmp(name, "counter") == 0 ? 0 : 500;
}
R cuLibraryGetGlobal(uint64_t *pointer, size_t *bytes, void *library, const char *name) {
  return cuModuleGetGlobal_v2(pointer, bytes, library, name);
}
R cuLibraryLoadData(void **l, const void *code, int *a, void **b, unsigned c, int *d, void **e, unsigned f) {
  return (void)a, (void)b, (void)c, (void)d, (void)e, (void)f, code ? load(l) : 1;
}
R cuLibraryLoadFromFile(void **l, const char *path, int *a, void **b, unsigned c, int *d, void **e, unsigned f) {
  return (void)a, (void)b, (void)c, (void)d, (void)e, (void)f, path ? load(l) : 1;
}
R cuLibraryUnload(void *library) { return library == NULL; }
R cuLibraryGetKernel(void **kernel, void *library, const char *name) {
  return cuModuleGetFunction(kernel, library, name);
}
R cuLibraryGetModule(void **module, void *library) { return *module = (char *)library + 0x80, 0; }
R cuKernelGetFunction(void **function, void *kernel) { return *function = (char *)kernel + 0x40, 0; }

static const struct stub_kernel *kernel_of(const void *function) {
  uintptr_t index = ((uintptr_t)function & 0x3f) - 1;
  return (uintptr_t)function >= 0x100 && index < KERNELS ? &kernels[index] : NULL;
}
R cuFuncGetParamInfo(void *function, size_t index, size_t *offset, size_t *bytes) {
  const struct stub_kernel *kernel = kernel_of(function);
  if (!kernel) return 400;
  if (index >= kernel->count) return 1;
  *offset = kernel->parameters[index].offset;
  *bytes = kernel->parameters[index].bytes;
  return 0;
}
R cuKernelGetParamInfo(void *kernel, size_t index, size_t *offset, size_t *bytes) {
  return cuFuncGetParamInfo(kernel, index, offset, bytes);
}
R cuFuncGetModule(void **module, void *function) {
  if (!kernel_of(function)) return 400;
  return *module = (void *)((uintptr_t)function & ~(uintptr_t)0x7f), 0;
}
R cuFuncGetName(const char **name, void *function) {
  return kernel_of(function) ? (*name = kernel_of(function)->name, 0) : 400;
}
R cuCtxDestroy_v2(void *context) { return context == NULL; }
R cuDevicePrimaryCtxReset_v2(int device) { return device; }

R cuLinkCreate_v2(unsigned n, int *o, void **v, void **state) {
  return (void)n, (void)o, (void)v, *state = (void *)0x77, 0;
}
R cuLinkAddData_v2(void *s, int t, void *d, size_t b, const char *n, unsigned c, int *o, void **v) {
  return (void)s, (void)t, (void)d, (void)b, (void)n, (void)c, (void)o, (void)v, 0;
}
R cuLinkDestroy(void *state) { return state == NULL; }

/* The smallest file that is a cubin: a header and one empty section. */
R cuLinkComplete(void *state, void **cubin, size_t *bytes) {
  static unsigned char elf[128] = {0x7f, 'E', 'L', 'F', 2, 1};
  elf[40] = 64, elf[58] = 64, elf[60] = 1;
  *cubin = elf;
  *bytes = sizeof elf;
  return state == NULL;
}

/* ---- Memory ---- */

static _Atomic uint64_t next_address = 0x700000000;

R cuMemAlloc_v2(uint64_t *pointer, size_t bytes) {
  return *pointer = atomic_fetch_add(&next_address, (bytes + 511) / 256 * 256), 0;
}
R cuMemFree_v2(uint64_t pointer) { return pointer == 0; }
R cuMemAllocPitch_v2(uint64_t *pointer, size_t *pitch, size_t width, size_t height, unsigned element) {
  *pitch = (width + 511) / 512 * 512;
  return (void)element, cuMemAlloc_v2(pointer, *pitch * height);
}
R cuMemAllocManaged(uint64_t *pointer, size_t bytes, unsigned flags) {
  return (void)flags, cuMemAlloc_v2(pointer, bytes);
}
R cuMemAllocAsync(uint64_t *pointer, size_t bytes, void *stream) { return (void)stream, cuMemAlloc_v2(pointer, bytes); }
R cuMemAllocAsync_ptsz(uint64_t *pointer, size_t bytes, void *stream) {
  return (void)stream, cuMemAlloc_v2(pointer, bytes);
}
R cuMemFreeAsync(uint64_t pointer, void *stream) { return (void)stream, cuMemFree_v2(pointer); }
R cuMemHostRegister_v2(void *pointer, size_t bytes, unsigned flags) { return (void)bytes, (void)flags, pointer == NULL; }
R cuMemHostUnregister(void *pointer) { return pointer == NULL; }
R cuMemHostGetDevicePointer_v2(uint64_t *pointer, void *host, unsigned flags) {
  return (void)flags, *pointer = (uintptr_t)host + 0x100000000000, 0;
}
R cuMemMap(uint64_t p, size_t n, size_t o, uint64_t h, uint64_t f) {
  return (void)p, (void)n, (void)o, (void)h, (void)f, 0;
}
R cuMemUnmap(uint64_t pointer, size_t bytes) { return (void)bytes, pointer == 0; }
R cuMemExportToShareableHandle(void *s, uint64_t h, int t, uint64_t f) {
  return (void)s, (void)h, (void)t, (void)f, 0;
}
R cuIpcGetMemHandle(void *handle, uint64_t pointer) { return (void)handle, pointer == 0; }
R cuIpcOpenMemHandle_v2(uint64_t *pointer, struct stub_ipc handle, unsigned flags) {
  return (void)handle, (void)flags, cuMemAlloc_v2(pointer, 4096);
}
R cuIpcCloseMemHandle(uint64_t pointer) { return pointer == 0; }

/* ---- Streams, captures and graphs ---- */

struct graph_node {
  struct stub_graph *within;
  int type;
  struct stub_node parameters;
  void *arguments[4];
  unsigned char packed[32];
  struct stub_graph *child;
};

struct stub_graph {
  struct graph_node nodes[NODES];
  unsigned count, edge_count;
  void *from[NODES], *to[NODES];
};

static struct stub_graph graphs[16];
static _Atomic unsigned graph_count;
static _Atomic uintptr_t next_stream = 0x1000;
static struct {
  void *stream;
  struct stub_graph *graph;
} capture;

R cuGraphCreate(void **graph, unsigned flags) { return *graph = &graphs[graph_count++], (int)flags; }

static void add_edge(struct stub_graph *graph, void *from, void *to) {
  graph->from[graph->edge_count] = from;
  graph->to[graph->edge_count++] = to;
}

static struct graph_node *add_node(struct stub_graph *graph, int type, void *const *before, size_t count) {
  struct graph_node *node = &graph->nodes[graph->count++];
  node->within = graph;
  node->type = type;
  for (size_t i = 0; i < count; i++) add_edge(graph, before[i], node);
  return node;
}

/* Copies parameters with the arguments, as the driver does. */
static void set_parameters(struct graph_node *node, const struct stub_node *parameters) {
  const struct stub_kernel *kernel = kernel_of(parameters->function ? parameters->function : parameters->kernel);
  node->parameters = *parameters;
  for (unsigned i = 0; kernel && parameters->parameters && i < kernel->count; i++) {
    node->arguments[i] = node->packed + kernel->parameters[i].offset;
    memcpy(node->arguments[i], parameters->parameters[i], kernel->parameters[i].bytes);
  }
  if (parameters->parameters) node->parameters.parameters = node->arguments;
}

R cuGraphAddKernelNode_v2(void **node, void *graph, void *const *before, size_t count, const struct stub_node *p) {
  struct graph_node *added = add_node(graph, 0, before, count);
  set_parameters(added, p);
  return *node = added, 0;
}
R cuGraphAddChildGraphNode(void **node, void *graph, void *const *before, size_t count, void *child) {
  struct graph_node *added = add_node(graph, 4, before, count);
  added->child = child;
  return *node = added, 0;
}
R stub_add_conditional(void *graph) { return add_node(graph, 13, NULL, 0) == NULL; }
R cuGraphGetNodes(void *graph, void **nodes, size_t *count) {
  struct stub_graph *of = graph;
  for (size_t i = 0; nodes && i < of->count; i++) nodes[i] = &of->nodes[i];
  return *count = of->count, 0;
}
R cuGraphGetEdges(void *graph, void **from, void **to, size_t *count) {
  struct stub_graph *of = graph;
  if (from) memcpy(from, of->from, of->edge_count * sizeof *from);
  if (to) memcpy(to, of->to, of->edge_count * sizeof *to);
  return *count = of->edge_count, 0;
}
R cuGraphNodeGetType(void *node, int *type) { return *type = ((struct graph_node *)node)->type, 0; }
R cuGraphKernelNodeGetParams_v2(void *node, struct stub_node *p) {
  return *p = ((struct graph_node *)node)->parameters, 0;
}
R cuGraphChildGraphNodeGetGraph(void *node, void **graph) { return *graph = ((struct graph_node *)node)->child, 0; }
R cuGraphInstantiateWithFlags(void **exec, void *graph, uint64_t flags) {
  return (void)flags, *exec = (char *)graph + 1, 0;
}
R cuGraphExecDestroy(void *exec) { return exec == NULL; }
R cuGraphExecKernelNodeSetParams_v2(void *exec, void *node, const struct stub_node *p) {
  return (void)node, (void)p, exec == NULL;
}
R cuGraphExecUpdate_v2(void *exec, void *graph, void *info) { return (void)graph, (void)info, exec == NULL; }
R cuGraphLaunch(void *exec, void *stream) { return (void)stream, exec == NULL; }

R cuStreamCreate(void **stream, unsigned flags) {
  return (void)flags, *stream = (void *)atomic_fetch_add(&next_stream, 16), 0;
}
R cuStreamDestroy_v2(void *stream) { return stream == NULL; }
R cuStreamSynchronize(void *stream) { return (void)stream, 0; }
R cuStreamSynchronize_ptsz(void *stream) { return (void)stream, 0; }
R cuCtxSynchronize(void) { return 0; }
R cuEventRecord(void *event, void *stream) { return (void)stream, event == NULL; }
R cuEventRecord_ptsz(void *event, void *stream) { return (void)stream, event == NULL; }
R cuStreamWaitEvent(void *stream, void *event, unsigned flags) { return (void)stream, (void)flags, event == NULL; }
R cuStreamWaitEvent_ptsz(void *stream, void *event, unsigned flags) {
  return (void)stream, (void)flags, event == NULL;
}
R cuEventSynchronize(void *event) { return event == NULL; }
R cuEventDestroy_v2(void *event) { return event == NULL; }
R cuStreamBeginCapture_v2(void *stream, int mode) {
  void *graph;
  cuGraphCreate(&graph, 0);
  capture.stream = stream;
  capture.graph = graph;
  return mode < 0;
}
R cuStreamIsCapturing(void *stream, int *status) { return *status = capture.graph && capture.stream == stream, 0; }
R cuStreamEndCapture(void *stream, void **graph) {
  *graph = capture.graph;
  capture.graph = NULL;
  return stream != capture.stream;
}

/* ---- Launches ---- */

static R launched(struct stub_call call) {
  last_call = call;
  if (capture.graph && capture.stream == call.stream) {
    struct stub_graph *graph = capture.graph;
    void *before = graph->count ? &graph->nodes[graph->count - 1] : NULL;
    struct stub_node node = {.function = call.function, .shared = call.shared, .parameters = call.parameters};
    memcpy(node.grid, call.grid, sizeof node.grid);
    memcpy(node.block, call.block, sizeof node.block);
    set_parameters(add_node(graph, 0, &before, before != NULL), &node);
    return 0;
  }
  launches++;
  return call.grid[0] == 0 || call.block[0] == 0;
}

#define LAUNCH(form)                                                                                         \
  launched((struct stub_call){form, f, {gx, gy, gz}, {bx, by, bz}, shared, stream, parameters, extra, NULL})
#define DIMENSIONS \
  void *f, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz, unsigned shared, void *stream

R cuLaunchKernel(DIMENSIONS, void **parameters, void **extra) { return LAUNCH("cuLaunchKernel"); }
R cuLaunchKernel_ptsz(DIMENSIONS, void **parameters, void **extra) { return LAUNCH("cuLaunchKernel_ptsz"); }
R cuLaunchCooperativeKernel(DIMENSIONS, void **parameters) {
  void **extra = NULL;
  return LAUNCH("cuLaunchCooperativeKernel");
}
R cuLaunchCooperativeKernel_ptsz(DIMENSIONS, void **parameters) {
  void **extra = NULL;
  return LAUNCH("cuLaunchCooperativeKernel_ptsz");
}

static R launched_ex(const char *form, const struct stub_config *c, void *f, void **parameters, void **extra) {
  struct stub_call call = {.form = form, .function = f, .parameters = parameters, .extra = extra, .config = c};
  if (c) {
    memcpy(call.grid, c->grid, sizeof call.grid);
    memcpy(call.block, c->block, sizeof call.block);
    call.shared = c->shared;
    call.stream = c->stream;
  }
  return launched(call);
}
R cuLaunchKernelEx(const struct stub_config *config, void *f, void **parameters, void **extra) {
  return launched_ex("cuLaunchKernelEx", config, f, parameters, extra);
}
R cuLaunchKernelEx_ptsz(const struct stub_config *config, void *f, void **parameters, void **extra) {
  return launched_ex("cuLaunchKernelEx_ptsz", config, f, parameters, extra);
}

/* ---- cuGetProcAddress ---- */

R cuGetProcAddress(const char *symbol, void **function, int version, uint64_t flags);
R cuGetProcAddress_v2(const char *symbol, void **function, int version, uint64_t flags, int *status);

static const struct {
  const char *base;
  int since;
  uint64_t per_thread;
  void *function;
} exported[] = {
#define EXPORT(base, since, name) {base, since, 0, (void *)name},
#define EXPORT_PTSZ(base, since, name) {base, since, 2, (void *)name},
    EXPORT("cuGetProcAddress", 12000, cuGetProcAddress_v2)
    EXPORT("cuGetProcAddress", 11030, cuGetProcAddress)
    EXPORT("cuLaunchKernel", 4000, cuLaunchKernel)
    EXPORT_PTSZ("cuLaunchKernel", 7000, cuLaunchKernel_ptsz)
    EXPORT("cuLaunchKernelEx", 11060, cuLaunchKernelEx)
    EXPORT_PTSZ("cuLaunchKernelEx", 11060, cuLaunchKernelEx_ptsz)
    EXPORT("cuLaunchCooperativeKernel", 9000, cuLaunchCooperativeKernel)
    EXPORT_PTSZ("cuLaunchCooperativeKernel", 9000, cuLaunchCooperativeKernel_ptsz)
    EXPORT("cuModuleLoadData", 2000, cuModuleLoadData)
    EXPORT("cuModuleGetFunction", 2000, cuModuleGetFunction)
    EXPORT("cuModuleUnload", 2000, cuModuleUnload)
    EXPORT("cuLibraryLoadData", 12000, cuLibraryLoadData)
    EXPORT("cuLibraryGetKernel", 12000, cuLibraryGetKernel)
    EXPORT("cuMemAlloc", 3020, cuMemAlloc_v2)
    EXPORT("cuMemFree", 3020, cuMemFree_v2)
    EXPORT("cuGraphLaunch", 10000, cuGraphLaunch)
    EXPORT("cuInit", 2000, cuInit)
};

/* A form of a function that a later CUDA brings. */
static R later_free(uint64_t pointer, int how) { return (void)how, cuMemFree_v2(pointer); }
void *stub_later_free(void) { return (void *)later_free; }

static R find(const char *symbol, void **function, int version, uint64_t flags) {
  *function = NULL;
  if (version >= 14000 && strcmp(symbol, "cuMemFree") == 0) return *function = (void *)later_free, 0;
  for (size_t i = 0; i < sizeof exported / sizeof *exported; i++) {
    if (strcmp(symbol, exported[i].base) != 0 || version < exported[i].since) continue;
    if (exported[i].per_thread == (flags & 2)) return *function = exported[i].function, 0;
    if (!*function && exported[i].per_thread == 0) *function = exported[i].function;
  }
  return *function ? 0 : 500;
}

R cuGetProcAddress(const char *symbol, void **function, int version, uint64_t flags) {
  return find(symbol, function, version, flags);
}
R cuGetProcAddress_v2(const char *symbol, void **function, int version, uint64_t flags, int *status) {
  R result = find(symbol, function, version, flags);
  if (status) *status = result != 0;
  return result;
}
