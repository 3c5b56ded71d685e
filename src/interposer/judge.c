#define _GNU_SOURCE
#include "judge.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "resolve.h"

enum { RANGES = 256 };

static bool extents = true;
static _Atomic uint64_t last_id;

static struct {
  selvage_on_launch *launch;
  selvage_on_checkpoint *checkpoint;
  selvage_on_overlap *overlap;
  void *launch_context, *checkpoint_context, *overlap_context;
} callbacks;
static pthread_rwlock_t callbacks_lock = PTHREAD_RWLOCK_INITIALIZER;

void give_extents(bool give) { extents = give; }

#define SET(kind)                                                       \
  void selvage_set_on_##kind(selvage_on_##kind *callback, void *context) { \
    pthread_rwlock_wrlock(&callbacks_lock);                             \
    callbacks.kind = callback;                                          \
    callbacks.kind##_context = context;                                 \
    pthread_rwlock_unlock(&callbacks_lock);                             \
  }
SET(launch)
SET(checkpoint)
SET(overlap)

static const struct layout no_layout;

/* A layout of its own; takes over `parameters`. NULL: no memory. */
static struct layout *make_layout(struct selvage_parameter *parameters, size_t count, size_t bytes) {
  struct layout *layout = malloc(sizeof *layout);
  if (layout) *layout = (struct layout){.bytes = bytes, .count = count, .parameters = parameters};
  else free(parameters);
  return layout;
}

static void free_layout(struct layout *layout) {
  if (layout) free((void *)layout->parameters);
  free(layout);
}

/* The layout that the driver knows; NULL where it does not say, or there is no memory. */
static struct layout *ask_layout(const struct launch_request *request, const struct function_info *function) {
  bool of_context = function->of_context;
  if (!driver_has(of_context ? FUNCTION_cuFuncGetParamInfo : FUNCTION_cuKernelGetParamInfo)) return NULL;
  struct selvage_parameter *parameters = NULL;
  for (size_t count = 0, end = 0;; count++) {
    size_t offset = 0, bytes = 0;
    driver_result result = of_context ? REAL(cuFuncGetParamInfo)(request->function, count, &offset, &bytes)
                                      : REAL(cuKernelGetParamInfo)(request->function, count, &offset, &bytes);
    /* So the driver says that there are no more. */
    if (result == DRIVER_INVALID_VALUE) return make_layout(parameters, count, end);
    bool sound = result == DRIVER_SUCCESS && bytes <= MOST_ARGUMENTS && offset <= MOST_ARGUMENTS - bytes && offset >= end;
    struct selvage_parameter *more = sound ? realloc(parameters, (count + 1) * sizeof *more) : NULL;
    if (!more) {
      free(parameters);
      return NULL;
    }
    parameters = more;
    parameters[count] = (struct selvage_parameter){(uint32_t)offset, (uint32_t)bytes};
    end = offset + bytes;
  }
}

/* The layout that a validator states; NULL where it states none that fits its own size, or there is no memory. */
static struct layout *stated_layout(const struct selvage_validator *validator) {
  size_t end = 0, count = validator->parameter_count;
  if (count > MOST_ARGUMENTS || (count > 0 && !validator->parameters)) return NULL;
  struct selvage_parameter *parameters = malloc((count + 1) * sizeof *parameters);
  for (size_t i = 0; parameters && i < count; i++) {
    parameters[i] = validator->parameters[i];
    if (parameters[i].offset < end || parameters[i].offset > MOST_ARGUMENTS || parameters[i].bytes > MOST_ARGUMENTS) break;
    end = (size_t)parameters[i].offset + parameters[i].bytes;
  }
  if (parameters && end == validator->argument_bytes && end <= MOST_ARGUMENTS) {
    return make_layout(parameters, count, end);
  }
  free(parameters);
  return NULL;
}

static bool same_layout(const struct layout *a, const struct layout *b) {
  if (a->count != b->count || a->bytes != b->bytes) return false;
  return a->count == 0 || memcmp(a->parameters, b->parameters, a->count * sizeof *a->parameters) == 0;
}

/* Where the parameters of a kernel lie, as the driver and the validator say; `no_layout` where that is not known. */
static const struct layout *find_layout(const struct launch_request *request, const struct function_info *function) {
  struct kernel *kernel = function->kernel;
  const struct layout *known = atomic_load_explicit(&kernel->layout, memory_order_acquire);
  if (known) return known;
  const struct selvage_validator *validator = kernel->validator;
  struct layout *found = ask_layout(request, function);
  if (validator && (validator->parameters || validator->argument_bytes == 0)) {
    struct layout *stated = stated_layout(validator);
    if (!stated || (found && !same_layout(found, stated))) {
      free_layout(stated);
      stated = NULL;
    }
    free_layout(found);
    found = stated;
  } else if (validator && found && found->bytes != validator->argument_bytes) {
    free_layout(found);
    found = NULL;
  }
  const struct layout *kept = found ? found : &no_layout;
  if (atomic_compare_exchange_strong(&kernel->layout, &known, kept)) return kept;
  /* Another thread was first. */
  free_layout(found);
  return known;
}

/* Bytes that `extra` hands over, with its padding at the end. NULL: it hands over none. */
static const unsigned char *buffer_of(void **extra, size_t *bytes) {
  const unsigned char *buffer = NULL;
  const size_t *size = NULL;
  for (int i = 0; i < 16 && (uintptr_t)extra[i] != DRIVER_PARAM_END; i += 2) {
    if ((uintptr_t)extra[i] == DRIVER_PARAM_BUFFER_POINTER) buffer = extra[i + 1];
    else if ((uintptr_t)extra[i] == DRIVER_PARAM_BUFFER_SIZE) size = extra[i + 1];
    else return NULL;
  }
  if (!buffer || !size) return NULL;
  *bytes = *size;
  return buffer;
}

size_t pack_arguments(const struct launch_request *request, const struct function_info *function,
                      unsigned char packed[MOST_ARGUMENTS], enum selvage_reason *reason) {
  const unsigned char *buffer = request->packed;
  size_t bytes = request->packed_bytes;
  const struct layout *layout = find_layout(request, function);
  *reason = SELVAGE_REASON_ARGUMENT_SIZES;
  if (layout == &no_layout) return SIZE_MAX;
  if (!buffer && !request->parameters && request->extra) {
    buffer = buffer_of(request->extra, &bytes);
    if (!buffer) {
      *reason = SELVAGE_REASON_ARGUMENTS;
      return layout->count == 0 ? 0 : SIZE_MAX;
    }
  }
  if (buffer) {
    /* A struct of the host may be longer by its padding. */
    if (bytes < layout->bytes || bytes - layout->bytes >= 128 || bytes > MOST_ARGUMENTS) return SIZE_MAX;
    memcpy(packed, buffer, layout->bytes);
    return layout->bytes;
  }
  *reason = SELVAGE_REASON_ARGUMENTS;
  if (layout->count > 0 && (!request->parameters || request->extra)) return SIZE_MAX;
  memset(packed, 0, layout->bytes);
  for (size_t i = 0; i < layout->count; i++) {
    const struct selvage_parameter *parameter = &layout->parameters[i];
    if (!request->parameters[i]) return SIZE_MAX;
    memcpy(packed + parameter->offset, request->parameters[i], parameter->bytes);
  }
  return layout->bytes;
}

/* What validators are given to ask with. */
struct judgement {
  struct function_info function;
  struct touched touched;
};

static int tell_allocation(void *context, uint64_t address, uint64_t *start, uint64_t *bytes) {
  struct selvage_range range;
  (void)context;
  if (!extents || !find_allocation(address, &range)) return 0;
  *start = range.start;
  *bytes = range.bytes;
  return 1;
}

static int tell_symbol(void *context, const char *name, uint64_t *address) {
  struct judgement *judgement = context;
  void *home = judgement->function.home;
  size_t bytes = 0;
  if (!home || !name) return 0;
  driver_result result = judgement->function.in_library ? REAL(cuLibraryGetGlobal)(address, &bytes, home, name)
                                                        : REAL(cuModuleGetGlobal_v2)(address, &bytes, home, name);
  if (result != DRIVER_SUCCESS) return 0;
  add_variable(*address, bytes, home);
  touch_address(&judgement->touched, *address);
  return 1;
}

static enum selvage_reason judge(struct judgement *judgement, const struct selvage_launch *launch,
                                 enum selvage_reason known) {
  const struct kernel *kernel = judgement->function.kernel;
  const struct selvage_validator *validator = kernel->validator;
  for (int i = 0; i < 3; i++) {
    if (launch->grid[i] == 0 || launch->block[i] == 0) return SELVAGE_REASON_DIMENSIONS;
  }
  if (known != SELVAGE_REASON_NONE) return known;
  if (kernel == kernel_unknown()) return SELVAGE_REASON_UNKNOWN_KERNEL;
  if (!*kernel->code_hash) return SELVAGE_REASON_UNKNOWN_CODE;
  if (!validator) return SELVAGE_REASON_NO_VALIDATOR;
  if (launch->argument_bytes != validator->argument_bytes) return SELVAGE_REASON_ARGUMENT_SIZES;
  if (!validator->is_idempotent(launch)) return SELVAGE_REASON_VALIDATOR;
  if (judgement->touched.unknown) return SELVAGE_REASON_UNKNOWN_MEMORY;
  if (judgement->touched.mapped_twice) return SELVAGE_REASON_MAPPED_TWICE;
  return SELVAGE_REASON_NONE;
}

/* Tells what has to be saved to run a launch again that is not idempotent. */
static void tell_checkpoint(const struct selvage_launch_report *report, const struct judgement *judgement,
                            selvage_on_checkpoint *callback, void *context) {
  const struct selvage_validator *validator = judgement->function.kernel->validator;
  struct selvage_range ranges[RANGES];
  if (validator && validator->written && report->launch->arguments &&
      report->launch->argument_bytes == validator->argument_bytes) {
    size_t count = validator->written(report->launch, ranges, RANGES);
    if (count <= RANGES) {
      callback(context, report, SELVAGE_COVERAGE_WRITTEN, ranges, count);
      return;
    }
  }
  size_t count;
  struct selvage_range *all = list_allocations(&count);
  callback(context, report, SELVAGE_COVERAGE_EVERYTHING, all, count);
  free(all);
}

/* Packs the arguments and finds the allocations that they lead to. Returns the bytes of the arguments, or SIZE_MAX. */
static size_t touch(const struct launch_request *request, const struct function_info *function,
                    unsigned char packed[MOST_ARGUMENTS], struct touched *touched, enum selvage_reason *reason) {
  const struct selvage_validator *validator = function->kernel->validator;
  bool is_known = function->kernel != kernel_unknown();
  size_t bytes = is_known ? pack_arguments(request, function, packed, reason) : SIZE_MAX;
  if (bytes == SIZE_MAX) {
    touched->too_many = true;
  } else {
    const uint32_t *pointers = validator ? validator->pointers : NULL;
    touch_arguments(touched, packed, bytes, pointers, pointers ? validator->pointer_count : 0);
  }
  return bytes;
}

void touch_launch(const struct launch_request *request, struct touched *touched) {
  unsigned char packed[MOST_ARGUMENTS];
  enum selvage_reason reason;
  struct function_info function = find_function(request->function);
  memset(touched, 0, sizeof *touched);
  touch(request, &function, packed, touched, &reason);
}

void judge_launch(const struct launch_request *request) {
  unsigned char packed[MOST_ARGUMENTS];
  struct judgement judgement = {.function = find_function(request->function)};
  struct kernel *kernel = judgement.function.kernel;
  enum selvage_reason wrong = SELVAGE_REASON_NONE;
  size_t bytes = touch(request, &judgement.function, packed, &judgement.touched, &wrong);
  struct selvage_launch launch = {
      .arguments = bytes == SIZE_MAX ? NULL : packed,
      .argument_bytes = bytes == SIZE_MAX ? 0 : bytes,
      .grid = {request->grid[0], request->grid[1], request->grid[2]},
      .block = {request->block[0], request->block[1], request->block[2]},
      .dynamic_shared = request->shared_bytes,
      .allocation = tell_allocation,
      .symbol = tell_symbol,
      .context = &judgement,
  };
  enum selvage_reason reason = request->reason;
  if (reason == SELVAGE_REASON_NONE && kernel->validator && bytes == SIZE_MAX) reason = wrong;
  reason = judge(&judgement, &launch, reason);
  uint64_t id = atomic_fetch_add_explicit(&last_id, 1, memory_order_relaxed) + 1;
  struct overlaps overlaps = {.count = 0};
  if (reason != SELVAGE_REASON_CAPTURED) {
    bool concurrent = enter_launch(request->stream, request->per_thread, id, &judgement.touched, &overlaps);
    if (concurrent && reason == SELVAGE_REASON_NONE) reason = SELVAGE_REASON_CONCURRENT;
  }
  count_launch(kernel, reason);
  pthread_rwlock_rdlock(&callbacks_lock);
  __typeof__(callbacks) tell = callbacks;
  pthread_rwlock_unlock(&callbacks_lock);
  for (size_t i = 0; tell.overlap && i < overlaps.count; i++) {
    const struct overlap *overlap = &overlaps.list[i];
    tell.overlap(tell.overlap_context, overlap->stream, overlap->last_id, overlap->allocation);
  }
  if (tell.overlap && reason == SELVAGE_REASON_LAUNCH_ATTRIBUTE) {
    /* It may begin before the launches before it in its stream are complete. */
    tell.overlap(tell.overlap_context, request->stream, id - 1, (struct selvage_range){0, UINT64_MAX});
  }
  if (!tell.launch && !tell.checkpoint) return;
  struct selvage_launch_report report = {
      .id = id,
      .verdict = verdict_of(reason),
      .reason = reason,
      .kernel = kernel == kernel_unknown() ? NULL : kernel->name,
      .code_hash = *kernel->code_hash ? kernel->code_hash : NULL,
      .launch = &launch,
      .stream = request->stream,
      .graph_exec = request->graph_exec,
      .graph_node = request->graph_node,
  };
  if (tell.launch) tell.launch(tell.launch_context, &report);
  if (tell.checkpoint && report.verdict != SELVAGE_IDEMPOTENT && reason != SELVAGE_REASON_CAPTURED) {
    tell_checkpoint(&report, &judgement, tell.checkpoint, tell.checkpoint_context);
  }
}
