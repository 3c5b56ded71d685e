/* One launch or a few for each rule of the interposer. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

#include "program.h"

static struct selvage_launch_report last;
static struct selvage_launch last_launch;
static unsigned reports;
static struct {
  unsigned count;
  uint64_t last_id;
  void *stream;
  uint64_t start;
} overlap;
static struct {
  unsigned calls;
  enum selvage_coverage coverage;
  size_t count;
  struct selvage_range first;
} checkpoint;
static enum selvage_reason reasons[64]; /* of the last reports */
static int failed;

static void on_launch(void *context, const struct selvage_launch_report *report) {
  (void)context;
  last = *report;
  last_launch = *report->launch;
  last.launch = &last_launch;
  reasons[reports++ % 64] = report->reason;
}

static void on_overlap(void *context, void *stream, uint64_t last_id, struct selvage_range allocation) {
  (void)context;
  overlap.count++, overlap.last_id = last_id, overlap.stream = stream, overlap.start = allocation.start;
}

static void on_checkpoint(void *context, const struct selvage_launch_report *report, enum selvage_coverage coverage,
                          const struct selvage_range *ranges, size_t count) {
  (void)context, (void)report;
  checkpoint.calls++, checkpoint.coverage = coverage, checkpoint.count = count;
  if (count > 0) checkpoint.first = ranges[0];
}

static void check(const char *what, bool holds) {
  printf("%s %s\n", holds ? "ok" : "not ok", what);
  failed += !holds;
}

/* The reason of the last launch, which is one of those since the last call. */
static void expect(const char *what, enum selvage_reason reason) {
  static unsigned before;
  bool holds = reports > before && last.reason == reason;
  printf("%s %s", holds ? "ok" : "not ok", what);
  if (!holds) printf(": reason %d instead of %d, %u reports", last.reason, reason, reports - before);
  printf("\n");
  failed += !holds;
  before = reports;
}

static void *module, *vector_add, *fill, *use_symbol;
static uint64_t x, y, z;

static void *function_of(void *of, const char *name) {
  void *function = NULL;
  cuModuleGetFunction(&function, of, name);
  return function;
}

static R add(void *function, uint64_t a, uint64_t b, uint64_t c, int n, void *stream) {
  void *parameters[] = {&a, &b, &c, &n};
  return cuLaunchKernel(function, 1, 1, 1, 128, 1, 1, 0, stream, parameters, NULL);
}

static void check_arguments(void) {
  int n = 100;
  void *parameters[] = {&x, &y, &z, &n}, *holes[] = {&x, NULL, &z, &n};
  add(vector_add, x, y, z, 100, NULL);
  expect("three arrays", SELVAGE_REASON_NONE);
  check("the report names kernel and dimensions", strcmp(last.kernel, "vectorAdd") == 0 && last.code_hash != NULL);
  add(vector_add, x, y, x, 100, NULL);
  expect("into its input", SELVAGE_REASON_VALIDATOR);
  add(vector_add, x, y, y - 400 + 1, 100, NULL);
  expect("one byte of overlap", SELVAGE_REASON_VALIDATOR);
  cuLaunchKernel(vector_add, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, NULL);
  expect("no arguments", SELVAGE_REASON_ARGUMENTS);
  cuLaunchKernel(vector_add, 1, 1, 1, 1, 1, 1, 0, NULL, holes, NULL);
  expect("an argument that is missing", SELVAGE_REASON_ARGUMENTS);
  for (int i = 0; i < 6; i++) {
    unsigned d[6] = {1, 1, 1, 1, 1, 1};
    d[i] = 0;
    cuLaunchKernel(vector_add, d[0], d[1], d[2], d[3], d[4], d[5], 0, NULL, parameters, NULL);
    expect("a dimension of 0", SELVAGE_REASON_DIMENSIONS);
  }
  struct {
    uint64_t a, b, c;
    int n, padding;
  } packed = {x, y, z, 100, 0};
  size_t bytes = sizeof packed;
  void *extra[] = {(void *)1, &packed, (void *)2, &bytes, NULL};
  R result = cuLaunchKernel(vector_add, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, extra);
  expect("arguments in a buffer", SELVAGE_REASON_NONE);
  check("the call goes on unchanged", result == 0 && stub_last_call()->extra == extra && !stub_last_call()->parameters);
  for (bytes = 0; bytes < 28; bytes += 9) {
    cuLaunchKernel(vector_add, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, extra);
    expect("a buffer that is too short", SELVAGE_REASON_ARGUMENT_SIZES);
  }
  bytes = (size_t)-1;
  cuLaunchKernel(vector_add, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, extra);
  expect("a buffer that is too long", SELVAGE_REASON_ARGUMENT_SIZES);
  void *only_pointer[] = {(void *)1, &packed, NULL}, *odd[] = {(void *)7, &packed, NULL}, *nothing[] = {NULL};
  cuLaunchKernel(vector_add, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, only_pointer);
  expect("a buffer without a size", SELVAGE_REASON_ARGUMENTS);
  cuLaunchKernel(vector_add, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, odd);
  expect("an option that is not known", SELVAGE_REASON_ARGUMENTS);
  cuLaunchKernel(vector_add, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, nothing);
  expect("no options", SELVAGE_REASON_ARGUMENTS);
  bytes = 28;
  cuLaunchKernel(vector_add, 1, 1, 1, 1, 1, 1, 0, NULL, parameters, extra);
  expect("arguments in both forms", SELVAGE_REASON_ARGUMENTS);
  cuLaunchKernel(function_of(module, "nothing"), 1, 1, 1, 1, 1, 1, 0, NULL, NULL, NULL);
  expect("a kernel without parameters", SELVAGE_REASON_NONE);
  cuLaunchKernel(function_of(module, "misfit"), 1, 1, 1, 1, 1, 1, 0, NULL, parameters, NULL);
  expect("a validator for other sizes", SELVAGE_REASON_ARGUMENT_SIZES);
}

static void check_forms(void) {
  int n = 100;
  void *parameters[] = {&x, &y, &z, &n};
  struct stub_attribute attributes[] = {{.id = 2, .value = {1}}, {.id = 4, .value = {1}}};
  struct stub_config config = {{2, 1, 1}, {64, 1, 1}, 8, NULL, attributes, 2};
  cuLaunchKernelEx(&config, vector_add, parameters, NULL);
  expect("cuLaunchKernelEx", SELVAGE_REASON_NONE);
  check("its configuration goes on", stub_last_call()->config == &config && last_launch.dynamic_shared == 8 &&
                                         last_launch.grid[0] == 2 && last_launch.block[0] == 64);
  attributes[1].id = 6;
  uint64_t id = last.id;
  overlap.count = 0;
  cuLaunchKernelEx(&config, vector_add, parameters, NULL);
  expect("a launch that overlaps the one before it", SELVAGE_REASON_LAUNCH_ATTRIBUTE);
  check("takes back what was said of that", overlap.count == 1 && overlap.last_id == id && overlap.stream == NULL);
  attributes[1].id = 99;
  cuLaunchKernelEx(&config, vector_add, parameters, NULL);
  expect("an attribute that is not known", SELVAGE_REASON_LAUNCH_ATTRIBUTE);
  config.attributes = NULL;
  cuLaunchKernelEx(&config, vector_add, parameters, NULL);
  expect("attributes that are missing", SELVAGE_REASON_LAUNCH_ATTRIBUTE);
  unsigned before = reports;
  cuLaunchKernelEx(NULL, vector_add, parameters, NULL);
  check("no configuration goes on to the driver", reports == before && stub_last_call()->config == NULL);
  cuLaunchCooperativeKernel(vector_add, 1, 1, 1, 1, 1, 1, 0, NULL, parameters);
  expect("cuLaunchCooperativeKernel", SELVAGE_REASON_NONE);
  check("in its form", strcmp(stub_last_call()->form, "cuLaunchCooperativeKernel") == 0);
}

typedef R launch_function(void *, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, void *, void **,
                          void **);

static void check_way(const char *what, void *function, const char *form) {
  int n = 100;
  void *parameters[] = {&x, &y, &z, &n};
  ((launch_function *)function)(vector_add, 1, 1, 1, 1, 1, 1, 0, NULL, parameters, NULL);
  expect(what, SELVAGE_REASON_NONE);
  check(what, strcmp(stub_last_call()->form, form) == 0);
  cuCtxSynchronize();
}

static void check_ways(void) {
  void *driver = dlopen("libcuda.so.1", RTLD_NOW), *found = NULL;
  int status = -1;
  check_way("dlsym", dlsym(driver, "cuLaunchKernel"), "cuLaunchKernel");
  check_way("dlsym of the default order", dlsym(RTLD_DEFAULT, "cuLaunchKernel"), "cuLaunchKernel");
  check_way("dlsym, stream of the thread", dlsym(driver, "cuLaunchKernel_ptsz"), "cuLaunchKernel_ptsz");
  cuGetProcAddress("cuLaunchKernel", &found, 11030, 0);
  check_way("cuGetProcAddress", found, "cuLaunchKernel");
  cuGetProcAddress_v2("cuLaunchKernel", &found, 13000, 2, &status);
  check_way("cuGetProcAddress_v2, stream of the thread", found, "cuLaunchKernel_ptsz");
  check("its status", status == 0);
  cuGetProcAddress_v2("cuLaunchKernel", &found, 99000, 0, NULL);
  check_way("a version that is not known yet", found, "cuLaunchKernel");
  R (*lookup)(const char *, void **, int, uint64_t, int *) = NULL;
  cuGetProcAddress("cuGetProcAddress", (void **)&lookup, 12000, 0);
  lookup("cuLaunchKernel", &found, 12000, 0, &status);
  check_way("cuGetProcAddress of itself", found, "cuLaunchKernel");
  for (int i = 0; i < 2; i++) cuGetProcAddress_v2("cuMemFree", &found, 14000, 0, NULL);
  check("a form that is not known yet", found == stub_later_free());
  check("what the driver has not", cuGetProcAddress_v2("cuNothing", &found, 12000, 0, &status) == 500 && !found);
  check("what we do not stand in for", cuGetProcAddress_v2("cuInit", &found, 12000, 0, NULL) == 0 &&
                                           found == dlsym(driver, "cuInit"));
  check("dlsym of others", dlsym(driver, "stub_launches") != NULL && dlsym(RTLD_DEFAULT, "strlen") != NULL &&
                               dlsym(driver, "cuNothing") == NULL);
  check("the next one in order", dlsym(RTLD_NEXT, "strlen") == dlsym(RTLD_DEFAULT, "strlen"));
  dlclose(driver);
}

static void check_code(const char *ptx) {
  void *other, *library, *kernel, *function;
  add((void *)0xdead, x, y, z, 100, NULL);
  expect("a handle that is not known", SELVAGE_REASON_UNKNOWN_KERNEL);
  check("without a name", last.kernel == NULL && last_launch.arguments == NULL);
  cuCtxSynchronize();
  add(NULL, x, y, z, 100, NULL);
  expect("no handle", SELVAGE_REASON_UNKNOWN_KERNEL);
  add(function_of(module, "unjudged"), x, y, z, 100, NULL);
  expect("a kernel without a validator", SELVAGE_REASON_NO_VALIDATOR);
  cuModuleLoadData(&other, "no PTX");
  add(function_of(other, "vectorAdd"), x, y, z, 100, NULL);
  expect("a text that is no PTX", SELVAGE_REASON_UNKNOWN_CODE);
  char *changed = strdup(ptx);
  memcpy(strstr(changed, "add.f32"), "sub.f32", 7);
  cuModuleLoadData(&other, changed);
  free(changed);
  add(function_of(other, "vectorAdd"), x, y, z, 100, NULL);
  expect("other code of the same name", SELVAGE_REASON_NO_VALIDATOR);

  cuLibraryLoadData(&library, ptx, NULL, NULL, 0, NULL, NULL, 0);
  cuLibraryGetKernel(&kernel, library, "vectorAdd");
  add(kernel, x, y, z, 100, NULL);
  expect("a kernel of a library", SELVAGE_REASON_NONE);
  cuKernelGetFunction(&function, kernel);
  add(function, x, y, z, 100, NULL);
  expect("its function", SELVAGE_REASON_NONE);
  void *of_library;
  cuLibraryGetModule(&of_library, library);
  add(function_of(of_library, "vectorAdd"), x, y, z, 100, NULL);
  expect("a function of its module", SELVAGE_REASON_NONE);
  add((char *)module + 1, x, y, z, 100, NULL);
  expect("a handle that the driver explains", SELVAGE_REASON_NONE);
  cuLibraryUnload(library);
  add(kernel, x, y, z, 100, NULL);
  expect("a kernel of a library that is gone", SELVAGE_REASON_UNKNOWN_KERNEL);

  cuCtxSynchronize();
  cuModuleLoadData(&other, ptx);
  function = function_of(other, "vectorAdd");
  add(function, x, y, z, 100, NULL);
  expect("a second module", SELVAGE_REASON_NONE);
  cuModuleUnload(other);
  stub_reuse_module(other);
  cuModuleLoadData(&other, "no PTX");
  add(function, x, y, z, 100, NULL);
  expect("its handle, when other code has it", SELVAGE_REASON_UNKNOWN_CODE);
  cuModuleLoadData(&other, ptx);
  function = function_of(other, "vectorAdd");
  cuModuleUnload(other);
  add(function, x, y, z, 100, NULL);
  expect("a function of a module that is gone", SELVAGE_REASON_UNKNOWN_KERNEL);
  cuCtxSynchronize();

  void *state, *cubin;
  size_t bytes;
  cuLinkCreate_v2(0, NULL, NULL, &state);
  cuLinkAddData_v2(state, 1, (void *)ptx, strlen(ptx) + 1, "text", 0, NULL, NULL);
  cuLinkAddData_v2(state, 1, (void *)ptx, strlen(ptx) + 1, "again", 0, NULL, NULL);
  cuLinkComplete(state, &cubin, &bytes);
  cuModuleLoadData(&other, cubin);
  cuLinkDestroy(state);
  add(function_of(other, "vectorAdd"), x, y, z, 100, NULL);
  expect("linked from two texts", SELVAGE_REASON_NO_VALIDATOR);
  cuLinkCreate_v2(0, NULL, NULL, &state);
  cuLinkAddData_v2(state, 1, (void *)ptx, strlen(ptx) + 1, "text", 0, NULL, NULL);
  cuLinkComplete(state, &cubin, &bytes);
  cuModuleLoadData(&other, cubin);
  cuLinkDestroy(state);
  add(function_of(other, "vectorAdd"), x, y, z, 100, NULL);
  expect("linked from one text", SELVAGE_REASON_NONE);
}

static R launch_one(void *function, uint64_t p, int n) {
  void *parameters[] = {&p, &n};
  return cuLaunchKernel(function, 1, 1, 1, 32, 1, 1, 0, NULL, parameters, NULL);
}

static void check_memory(void) {
  uint64_t p, q;
  bool extents = getenv("SELVAGE_IDEMPOTENCY_EXTENTS") == NULL;
  cuMemAlloc_v2(&p, 400);
  launch_one(fill, p, 100);
  expect("inside its allocation", extents ? SELVAGE_REASON_NONE : SELVAGE_REASON_VALIDATOR);
  launch_one(fill, p + 4, 100);
  expect("past its end", SELVAGE_REASON_VALIDATOR);
  cuMemFree_v2(p);
  launch_one(fill, p, 1);
  expect("freed", SELVAGE_REASON_VALIDATOR);
  add(vector_add, p, y, z, 100, NULL);
  expect("a pointer to memory that is not known", SELVAGE_REASON_UNKNOWN_MEMORY);
  add(vector_add, 0, y, z, 100, NULL);
  expect("a pointer that is NULL", SELVAGE_REASON_NONE);

  size_t pitch;
  cuMemAllocPitch_v2(&p, &pitch, 100, 4, 4);
  add(vector_add, p + 3 * pitch, y, z, 25, NULL);
  expect("the last row", SELVAGE_REASON_NONE);
  add(vector_add, p + 4 * pitch, y, z, 25, NULL);
  expect("behind the last row", SELVAGE_REASON_UNKNOWN_MEMORY);
  cuMemFree_v2(p);
  cuMemAllocManaged(&p, 400, 1);
  add(vector_add, p, y, z, 100, NULL);
  expect("managed memory", SELVAGE_REASON_NONE);
  cuMemFree_v2(p);
  cuMemAllocAsync(&p, 400, NULL);
  add(vector_add, p, y, z, 100, NULL);
  expect("memory of a stream", SELVAGE_REASON_NONE);
  cuMemFreeAsync(p, NULL);

  p = 0xa00000000, q = 0xb00000000;
  cuMemMap(p, 4096, 0, 7, 0);
  add(vector_add, p, y, z, 100, NULL);
  expect("mapped once", SELVAGE_REASON_NONE);
  cuMemMap(q, 2048, 2048, 8, 0);
  add(vector_add, p, q, z, 100, NULL);
  expect("two objects", SELVAGE_REASON_NONE);
  cuMemMap(q + 2048, 2048, 2048, 7, 0);
  add(vector_add, p, y, z, 100, NULL);
  expect("mapped twice", SELVAGE_REASON_MAPPED_TWICE);
  add(vector_add, x, y, q + 2048, 100, NULL);
  expect("its other address", SELVAGE_REASON_MAPPED_TWICE);
  int file;
  cuMemExportToShareableHandle(&file, 8, 1, 0);
  add(vector_add, x, q, z, 100, NULL);
  expect("handed to another process", SELVAGE_REASON_MAPPED_TWICE);
  cuMemUnmap(p, 4096);
  cuMemUnmap(q, 4096);
  add(vector_add, p, y, z, 100, NULL);
  expect("unmapped", SELVAGE_REASON_UNKNOWN_MEMORY);

  char handle[64];
  struct stub_ipc foreign = {{0}};
  cuMemAlloc_v2(&p, 400);
  cuIpcGetMemHandle(handle, p);
  add(vector_add, p, y, z, 100, NULL);
  expect("opened by another process", SELVAGE_REASON_MAPPED_TWICE);
  cuMemFree_v2(p);
  cuIpcOpenMemHandle_v2(&p, foreign, 0);
  add(vector_add, p + 512, y, z, 100, NULL);
  expect("of another process", SELVAGE_REASON_MAPPED_TWICE);
  cuIpcCloseMemHandle(p);

  char *host = malloc(400);
  cuMemHostRegister_v2(host, 400, 2);
  cuMemHostGetDevicePointer_v2(&p, host + 8, 0);
  add(vector_add, (uintptr_t)host, y, z, 100, NULL);
  expect("memory of the host", SELVAGE_REASON_MAPPED_TWICE);
  add(vector_add, p + 100, y, z, 10, NULL);
  expect("its address for the device", SELVAGE_REASON_MAPPED_TWICE);
  cuMemHostUnregister(host);
  add(vector_add, p + 100, y, z, 10, NULL);
  expect("given back", SELVAGE_REASON_UNKNOWN_MEMORY);
  free(host);

  uint64_t counter = 0x900000000 + (uintptr_t)module;
  void *parameters[] = {&counter};
  cuLaunchKernel(use_symbol, 1, 1, 1, 1, 1, 1, 0, NULL, parameters, NULL);
  expect("a variable of the module", SELVAGE_REASON_VALIDATOR);
  parameters[0] = &x;
  cuLaunchKernel(use_symbol, 1, 1, 1, 1, 1, 1, 0, NULL, parameters, NULL);
  expect("disjoint from it", SELVAGE_REASON_NONE);
  cuCtxSynchronize();
}

static void check_streams(void) {
  void *s, *t, *u, *event = (void *)0x99;
  cuStreamCreate(&s, 1), cuStreamCreate(&t, 1), cuStreamCreate(&u, 0);
  cuCtxSynchronize();
  add(vector_add, x, y, z, 100, s);
  uint64_t first = last.id;
  expect("one stream", SELVAGE_REASON_NONE);
  add(vector_add, x, y, z, 100, s);
  expect("the same stream", SELVAGE_REASON_NONE);
  overlap.count = 0;
  add(vector_add, x, y, z, 100, t);
  expect("another stream", SELVAGE_REASON_CONCURRENT);
  check("tells of the earlier ones", overlap.count == 1 && overlap.stream == s && overlap.last_id == first + 1);
  cuStreamSynchronize(s);
  add(vector_add, x, y, z, 100, t);
  expect("after waiting on the host", SELVAGE_REASON_NONE);
  cuEventRecord(event, t);
  cuStreamWaitEvent(s, event, 0);
  add(vector_add, x, y, z, 100, s);
  expect("after waiting for an event", SELVAGE_REASON_NONE);
  add(vector_add, x, y, z, 100, t);
  expect("an event orders one way", SELVAGE_REASON_CONCURRENT);
  cuEventSynchronize(event);
  add(vector_add, x, y, z, 100, s);
  expect("an event does not order what came after it", SELVAGE_REASON_CONCURRENT);
  cuCtxSynchronize();
  uint64_t own[3];
  for (int i = 0; i < 3; i++) cuMemAlloc_v2(&own[i], 400);
  add(vector_add, x, y, z, 100, s);
  expect("all complete", SELVAGE_REASON_NONE);
  add(vector_add, own[0], own[1], own[2], 100, t);
  expect("memory of its own", SELVAGE_REASON_NONE);
  cuCtxSynchronize();
  add(vector_add, x, y, z, 100, u);
  add(vector_add, x, y, z, 100, NULL);
  expect("the default stream waits", SELVAGE_REASON_NONE);
  add(vector_add, x, y, z, 100, u);
  expect("others wait for it", SELVAGE_REASON_NONE);
  add(vector_add, x, y, z, 100, s);
  expect("those that do not wait", SELVAGE_REASON_CONCURRENT);
  cuCtxSynchronize();
  add(vector_add, x, y, z, 100, NULL);
  add(vector_add, x, y, z, 100, s);
  expect("those that do not wait, beside the default stream", SELVAGE_REASON_CONCURRENT);
  cuCtxSynchronize();
  add(vector_add, x, y, z, 100, NULL);
  stub_set_context((void *)0x52);
  add(vector_add, x, y, z, 100, NULL);
  expect("the default stream of another context", SELVAGE_REASON_CONCURRENT);
  cuCtxSynchronize();
  stub_set_context((void *)0x51);
  cuCtxSynchronize();
  add((void *)0xdead, x, y, z, 100, s);
  expect("a kernel that may use anything", SELVAGE_REASON_UNKNOWN_KERNEL);
  add(vector_add, own[0], own[1], own[2], 100, t);
  expect("beside it", SELVAGE_REASON_CONCURRENT);
  cuCtxSynchronize();
  void *many[100];
  for (int i = 0; i < 100; i++) cuStreamCreate(&many[i], 1);
  for (int i = 0; i < 100; i++) add(vector_add, own[0], own[1], own[2], 100, many[i]);
  expect("more streams than are followed", SELVAGE_REASON_CONCURRENT);
  for (int i = 0; i < 100; i++) cuStreamDestroy_v2(many[i]);
}

static void check_checkpoints(void) {
  selvage_set_on_checkpoint(on_checkpoint, NULL);
  add(vector_add, x, y, z, 100, NULL);
  check("nothing to save", checkpoint.calls == 0);
  add(vector_add, x, y, x, 100, NULL);
  check("what is written is to be saved", checkpoint.calls == 1 && checkpoint.coverage == SELVAGE_COVERAGE_WRITTEN &&
                                              checkpoint.count == 1 && checkpoint.first.start == x &&
                                              checkpoint.first.bytes == 400);
  launch_one(function_of(module, "unjudged"), x, 1);
  check("everything is to be saved", checkpoint.calls == 2 && checkpoint.coverage == SELVAGE_COVERAGE_EVERYTHING &&
                                         checkpoint.count >= 3);
  selvage_set_on_checkpoint(NULL, NULL);
  cuCtxSynchronize();
}

static struct stub_node node_of(void **parameters) {
  return (struct stub_node){.function = vector_add, .grid = {1, 1, 1}, .block = {1, 1, 1}, .parameters = parameters};
}

static void check_graphs(void) {
  void *stream, *graph, *exec, *nodes[4];
  int n = 100;
  void *apart[] = {&x, &y, &z, &n}, *in_place[] = {&x, &y, &x, &n};
  cuStreamCreate(&stream, 1);
  cuStreamBeginCapture_v2(stream, 0);
  uint64_t before = stub_launches();
  add(vector_add, x, y, z, 100, stream);
  expect("a captured launch", SELVAGE_REASON_CAPTURED);
  add(vector_add, x, y, x, 100, stream);
  expect("another", SELVAGE_REASON_CAPTURED);
  cuStreamEndCapture(stream, &graph);
  check("none of them runs", stub_launches() == before);
  cuGraphInstantiateWithFlags(&exec, graph, 0);
  unsigned at = reports;
  cuGraphLaunch(exec, stream);
  check("a graph tells of each node", reports == at + 2 && reasons[at % 64] == SELVAGE_REASON_NONE &&
                                          reasons[(at + 1) % 64] == SELVAGE_REASON_VALIDATOR &&
                                          last.graph_exec == exec && last.graph_node != NULL);
  cuGraphExecDestroy(exec);
  cuGraphLaunch(exec, stream);
  expect("a graph that is gone", SELVAGE_REASON_GRAPH);
  cuCtxSynchronize();

  struct stub_node first = node_of(apart), second = node_of(in_place);
  cuGraphCreate(&graph, 0);
  cuGraphAddKernelNode_v2(&nodes[0], graph, NULL, 0, &first);
  cuGraphAddKernelNode_v2(&nodes[1], graph, nodes, 1, &first);
  cuGraphInstantiateWithFlags(&exec, graph, 0);
  cuGraphLaunch(exec, stream);
  expect("nodes that were added", SELVAGE_REASON_NONE);
  cuGraphExecKernelNodeSetParams_v2(exec, nodes[1], &second);
  cuGraphLaunch(exec, stream);
  expect("a node that was changed", SELVAGE_REASON_VALIDATOR);
  cuGraphExecKernelNodeSetParams_v2(exec, nodes[1], &first);
  cuGraphLaunch(exec, stream);
  expect("and back", SELVAGE_REASON_NONE);
  void *kept = exec;
  cuGraphExecKernelNodeSetParams_v2(exec, (void *)0x1234, &first);
  cuGraphLaunch(exec, stream);
  expect("a node that is not listed", SELVAGE_REASON_GRAPH);

  void *parallel;
  cuGraphCreate(&parallel, 0);
  cuGraphAddKernelNode_v2(&nodes[0], parallel, NULL, 0, &first);
  cuGraphAddKernelNode_v2(&nodes[1], parallel, NULL, 0, &first);
  cuGraphInstantiateWithFlags(&exec, parallel, 0);
  cuCtxSynchronize();
  at = reports;
  cuGraphLaunch(exec, stream);
  check("nodes that may run together", reports == at + 2 && reasons[at % 64] == SELVAGE_REASON_CONCURRENT &&
                                           reasons[(at + 1) % 64] == SELVAGE_REASON_CONCURRENT);
  void *outer;
  cuGraphCreate(&outer, 0);
  cuGraphAddKernelNode_v2(&nodes[0], outer, NULL, 0, &first);
  cuGraphAddChildGraphNode(&nodes[1], outer, nodes, 1, graph);
  cuGraphAddKernelNode_v2(&nodes[2], outer, &nodes[1], 1, &first);
  cuGraphInstantiateWithFlags(&exec, outer, 0);
  at = reports;
  cuGraphLaunch(exec, stream);
  check("a graph in a graph", reports == at + 4 && reasons[at % 64] == SELVAGE_REASON_NONE &&
                                  reasons[(at + 3) % 64] == SELVAGE_REASON_NONE);
  cuGraphExecUpdate_v2(exec, parallel, NULL);
  cuGraphLaunch(exec, stream);
  expect("a graph that was updated", SELVAGE_REASON_CONCURRENT);
  cuGraphExecDestroy(exec);
  stub_add_conditional(outer);
  cuGraphInstantiateWithFlags(&exec, outer, 0);
  cuGraphLaunch(exec, stream);
  expect("a graph with a condition", SELVAGE_REASON_GRAPH);
  cuGraphExecDestroy(exec);
  cuGraphInstantiateWithFlags(&exec, graph, 4);
  cuGraphLaunch(exec, stream);
  expect("a graph that the device launches", SELVAGE_REASON_GRAPH);
  cuGraphExecDestroy(exec);
  cuGraphExecDestroy(kept);
  cuGraphExecDestroy((char *)parallel + 1);
  cuCtxSynchronize();
}

int run_cases(const char *ptx) {
  selvage_set_on_launch(on_launch, NULL);
  selvage_set_on_overlap(on_overlap, NULL);
  cuModuleLoadData(&module, ptx);
  vector_add = function_of(module, "vectorAdd");
  fill = function_of(module, "fill");
  use_symbol = function_of(module, "useSymbol");
  cuMemAlloc_v2(&x, 400), cuMemAlloc_v2(&y, 400), cuMemAlloc_v2(&z, 400);
  check_arguments();
  check_forms();
  check_ways();
  check_code(ptx);
  check_memory();
  check_checkpoints();
  check_graphs();
  check_streams();
  cuDevicePrimaryCtxReset_v2(0);
  add(vector_add, x, y, z, 100, NULL);
  expect("after a reset", SELVAGE_REASON_UNKNOWN_KERNEL);
  printf("%d failed\n", failed);
  return failed;
}
