/*
 * Launches of graphs. When a graph is instantiated, its kernel nodes are listed, however they came into it: added, captured,
 * cloned, or in a graph within. Each launch of the graph judges each of them.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "judge.h"
#include "map.h"
#include "resolve.h"

enum { PLACES = 2048, DEPTH = 16 };

struct node {
  void *handle;
  void *function;
  unsigned grid[3], block[3], shared_bytes;
  enum selvage_reason reason;
  unsigned char *packed;
  size_t packed_bytes;
  size_t begin; /* its place in the order */
};

/* An executable graph. */
struct exec {
  struct node *nodes;
  size_t count;
  bool complete; /* all its kernels are listed */
  bool serial;   /* each two of them are ordered */
  unsigned char *reaches; /* bits: place i is before place j; NULL: not known */
  size_t places;
  pthread_mutex_t lock;
  unsigned users; /* launches that read it, and the map; under `execs_lock` */
};

/* Nodes of a graph and of the graphs in it. A graph within begins at one place and ends at another. */
struct listing {
  struct exec *exec;
  size_t (*edges)[2];
  size_t edge_count, edge_capacity;
  bool ordered; /* all edges are known */
};

static struct map execs;
static pthread_mutex_t execs_lock = PTHREAD_MUTEX_INITIALIZER;

static void free_exec(struct exec *exec) {
  for (size_t i = 0; i < exec->count; i++) free(exec->nodes[i].packed);
  free(exec->nodes);
  free(exec->reaches);
  pthread_mutex_destroy(&exec->lock);
  free(exec);
}

static void release(struct exec *exec) {
  pthread_mutex_lock(&execs_lock);
  bool last = exec && --exec->users == 0;
  pthread_mutex_unlock(&execs_lock);
  if (last) free_exec(exec);
}

static struct exec *acquire(void *handle) {
  pthread_mutex_lock(&execs_lock);
  struct exec *exec = map_get(&execs, (uintptr_t)handle);
  if (exec) exec->users++;
  pthread_mutex_unlock(&execs_lock);
  return exec;
}

/* Keeps an executable graph under its handle; NULL: forgets it. */
static void keep(void *handle, struct exec *exec) {
  pthread_mutex_lock(&execs_lock);
  struct exec *former =
      exec ? map_put(&execs, (uintptr_t)handle, exec) : map_remove(&execs, (uintptr_t)handle);
  pthread_mutex_unlock(&execs_lock);
  release(former);
}

/* Sets what a node launches; its arguments are copied, as the driver does. */
static void set_node(struct node *node, const struct driver_kernel_node *from) {
  static _Thread_local unsigned char packed[MOST_ARGUMENTS];
  struct launch_request request = {
      .function = from->function, .parameters = from->parameters, .extra = from->extra};
  free(node->packed);
  node->packed = NULL;
  node->packed_bytes = 0;
  node->function = from->function;
  memcpy(node->grid, from->grid, sizeof node->grid);
  memcpy(node->block, from->block, sizeof node->block);
  node->shared_bytes = from->shared_bytes;
  struct function_info function = find_function(node->function);
  if (function.kernel == kernel_unknown()) return;
  enum selvage_reason reason;
  size_t bytes = pack_arguments(&request, &function, packed, &reason);
  if (bytes == SIZE_MAX) return;
  node->packed = malloc(bytes + 1);
  if (!node->packed) return;
  memcpy(node->packed, packed, bytes);
  node->packed_bytes = bytes;
}

/* The parameters of a kernel node; the second form has fields that the first has not. */
static bool read_node(void *handle, struct driver_kernel_node *node) {
  memset(node, 0, sizeof *node);
  driver_result result = driver_has(FUNCTION_cuGraphKernelNodeGetParams_v2)
                             ? REAL(cuGraphKernelNodeGetParams_v2)(handle, node)
                             : REAL(cuGraphKernelNodeGetParams)(handle, node);
  if (!node->function) node->function = node->kernel;
  return result == DRIVER_SUCCESS;
}

static bool is_updatable(void *handle) {
  struct driver_launch_attribute attribute = {.id = DRIVER_ATTRIBUTE_DEVICE_UPDATABLE};
  int updatable = 0;
  if (REAL(cuGraphKernelNodeGetAttribute)(handle, DRIVER_ATTRIBUTE_DEVICE_UPDATABLE, &attribute.value) !=
      DRIVER_SUCCESS) {
    return false;
  }
  memcpy(&updatable, &attribute.value, sizeof updatable);
  return updatable != 0;
}

static void add_edge(struct listing *listing, size_t from, size_t to) {
  if (listing->edge_count == listing->edge_capacity) {
    size_t capacity = listing->edge_capacity ? 2 * listing->edge_capacity : 64;
    void *larger = realloc(listing->edges, capacity * sizeof *listing->edges);
    if (!larger) {
      listing->ordered = false;
      return;
    }
    listing->edges = larger;
    listing->edge_capacity = capacity;
  }
  listing->edges[listing->edge_count][0] = from;
  listing->edges[listing->edge_count++][1] = to;
}

static void list_kernel(struct listing *listing, void *handle, size_t begin) {
  struct exec *exec = listing->exec;
  struct driver_kernel_node from;
  struct node *more = realloc(exec->nodes, (exec->count + 1) * sizeof *more);
  if (more) exec->nodes = more;
  if (!more || !read_node(handle, &from)) {
    exec->complete = false;
    return;
  }
  struct node *node = &exec->nodes[exec->count++];
  *node = (struct node){.handle = handle, .begin = begin};
  if (is_updatable(handle)) node->reason = SELVAGE_REASON_LAUNCH_ATTRIBUTE;
  set_node(node, &from);
}

/* Lists the nodes of a graph between two places. */
static void list_graph(struct listing *listing, void *graph, size_t begin, size_t end, unsigned depth) {
  struct exec *exec = listing->exec;
  size_t count = 0, edge_count = 0;
  if (depth == DEPTH || REAL(cuGraphGetNodes)(graph, NULL, &count) != DRIVER_SUCCESS || count > SIZE_MAX / 64) {
    exec->complete = false;
    return;
  }
  void **nodes = calloc(count + 1, sizeof *nodes);
  struct map places = {0}; /* by node: its first place, plus one */
  size_t *ends = calloc(count + 1, sizeof *ends);
  if (!nodes || !ends || (count > 0 && REAL(cuGraphGetNodes)(graph, nodes, &count) != DRIVER_SUCCESS)) {
    exec->complete = false;
    count = 0;
  }
  for (size_t i = 0; i < count; i++) {
    int type = -1;
    void *child = NULL;
    size_t place = exec->places++;
    ends[i] = place;
    add_edge(listing, begin, place);
    if (REAL(cuGraphNodeGetType)(nodes[i], &type) != DRIVER_SUCCESS || type >= DRIVER_NODE_CONDITIONAL) {
      exec->complete = false;
    } else if (type == DRIVER_NODE_KERNEL) {
      list_kernel(listing, nodes[i], place);
    } else if (type == DRIVER_NODE_GRAPH) {
      ends[i] = exec->places++;
      if (REAL(cuGraphChildGraphNodeGetGraph)(nodes[i], &child) == DRIVER_SUCCESS) {
        list_graph(listing, child, place, ends[i], depth + 1);
      } else {
        exec->complete = false;
      }
      add_edge(listing, place, ends[i]);
    }
    add_edge(listing, ends[i], end);
    if (map_put(&places, (uintptr_t)nodes[i], (void *)(i + 1)) != NULL) listing->ordered = false;
    nodes[i] = (void *)place; /* from here on only the place is needed */
  }
  void **from = NULL, **to = NULL;
  bool known = REAL(cuGraphGetEdges)(graph, NULL, NULL, &edge_count) == DRIVER_SUCCESS && edge_count < SIZE_MAX / 64;
  if (known && edge_count > 0) {
    from = calloc(edge_count, sizeof *from);
    to = calloc(edge_count, sizeof *to);
    known = from && to && REAL(cuGraphGetEdges)(graph, from, to, &edge_count) == DRIVER_SUCCESS;
  }
  /* Edges with data, as of programmatic launches, order less: the driver refuses to list them. */
  if (!known) listing->ordered = false;
  for (size_t i = 0; known && i < edge_count; i++) {
    size_t first = (size_t)map_get(&places, (uintptr_t)from[i]);
    size_t second = (size_t)map_get(&places, (uintptr_t)to[i]);
    if (first && second) add_edge(listing, ends[first - 1], (size_t)nodes[second - 1]);
  }
  free(places.entries);
  free(nodes);
  free(ends);
  free(from);
  free(to);
}

static bool is_before(const struct exec *exec, size_t from, size_t to) {
  size_t bit = from * exec->places + to;
  return exec->reaches && (exec->reaches[bit / 8] >> bit % 8 & 1) != 0;
}

/* Finds which places are before which: repeats until nothing changes, as edges mostly go from earlier to later ones. */
static void find_order(struct listing *listing) {
  struct exec *exec = listing->exec;
  size_t row = (exec->places + 7) / 8;
  exec->places = 8 * row;
  if (!listing->ordered || exec->places > PLACES) return;
  exec->reaches = calloc(exec->places + 1, row);
  if (!exec->reaches) return;
  for (bool changed = true; changed;) {
    changed = false;
    for (size_t i = listing->edge_count; i-- > 0;) {
      size_t from = listing->edges[i][0], to = listing->edges[i][1];
      unsigned char *of_from = exec->reaches + from * row;
      const unsigned char *of_to = exec->reaches + to * row;
      for (size_t j = 0; j < row; j++) {
        unsigned char bits = of_to[j] | (j == to / 8 ? (unsigned char)(1 << to % 8) : 0);
        changed |= (bits & ~of_from[j]) != 0;
        of_from[j] |= bits;
      }
    }
  }
  exec->serial = true;
  for (size_t i = 0; i < exec->count && exec->serial; i++) {
    for (size_t j = 0; j < i && exec->serial; j++) {
      size_t a = exec->nodes[i].begin, b = exec->nodes[j].begin;
      exec->serial = is_before(exec, a, b) || is_before(exec, b, a);
    }
  }
}

/* Reads a graph. NULL: no memory. */
static struct exec *read_graph(void *graph) {
  struct exec *exec = calloc(1, sizeof *exec);
  if (!exec) return NULL;
  struct listing listing = {.exec = exec, .ordered = true};
  exec->complete = true;
  exec->places = 2;
  exec->users = 1;
  pthread_mutex_init(&exec->lock, NULL);
  list_graph(&listing, graph, 0, 1, 0);
  find_order(&listing);
  if (exec->count <= 1) exec->serial = true;
  free(listing.edges);
  return exec;
}

static driver_result instantiated(driver_result result, void **handle, void *graph, uint64_t flags) {
  if (result != DRIVER_SUCCESS || !handle || !*handle) return result;
  struct exec *exec = read_graph(graph);
  /* A graph that the device launches may run at any time, with parameters that the device sets. */
  if (exec && (flags & DRIVER_GRAPH_DEVICE_LAUNCH) != 0) exec->complete = false;
  keep(*handle, exec);
  return result;
}

driver_result cuGraphInstantiate(void **exec, void *graph, void **error, char *log, size_t bytes) {
  return instantiated(REAL(cuGraphInstantiate)(exec, graph, error, log, bytes), exec, graph, 0);
}
driver_result cuGraphInstantiate_v2(void **exec, void *graph, void **error, char *log, size_t bytes) {
  return instantiated(REAL(cuGraphInstantiate_v2)(exec, graph, error, log, bytes), exec, graph, 0);
}
driver_result cuGraphInstantiateWithFlags(void **exec, void *graph, uint64_t flags) {
  return instantiated(REAL(cuGraphInstantiateWithFlags)(exec, graph, flags), exec, graph, flags);
}
driver_result cuGraphInstantiateWithParams(void **exec, void *graph, struct driver_instantiate *parameters) {
  uint64_t flags = parameters ? parameters->flags : 0;
  return instantiated(REAL(cuGraphInstantiateWithParams)(exec, graph, parameters), exec, graph, flags);
}
driver_result cuGraphInstantiateWithParams_ptsz(void **exec, void *graph, struct driver_instantiate *parameters) {
  uint64_t flags = parameters ? parameters->flags : 0;
  return instantiated(REAL(cuGraphInstantiateWithParams_ptsz)(exec, graph, parameters), exec, graph, flags);
}

driver_result cuGraphExecDestroy(void *exec) {
  keep(exec, NULL);
  return REAL(cuGraphExecDestroy)(exec);
}

/* A change of a node of an executable graph. A node that is not listed makes the list incomplete. */
static driver_result changed(driver_result result, void *handle, void *node, const struct driver_kernel_node *to) {
  struct exec *exec = result == DRIVER_SUCCESS ? acquire(handle) : NULL;
  if (!exec) return result;
  pthread_mutex_lock(&exec->lock);
  struct node *found = NULL;
  for (size_t i = 0; i < exec->count && !found; i++) {
    if (exec->nodes[i].handle == node) found = &exec->nodes[i];
  }
  if (found && to) set_node(found, to);
  else exec->complete = false;
  pthread_mutex_unlock(&exec->lock);
  release(exec);
  return result;
}

driver_result cuGraphExecKernelNodeSetParams(void *exec, void *node, const struct driver_kernel_node *parameters) {
  return changed(REAL(cuGraphExecKernelNodeSetParams)(exec, node, parameters), exec, node, parameters);
}

/* The second form, where a kernel may stand for the function. */
static driver_result changed_kernel(driver_result result, void *exec, void *node, const struct driver_kernel_node *to) {
  struct driver_kernel_node copy;
  if (!to) return changed(result, exec, node, NULL);
  copy = *to;
  if (!copy.function) copy.function = copy.kernel;
  return changed(result, exec, node, &copy);
}

driver_result cuGraphExecKernelNodeSetParams_v2(void *exec, void *node, const struct driver_kernel_node *parameters) {
  return changed_kernel(REAL(cuGraphExecKernelNodeSetParams_v2)(exec, node, parameters), exec, node, parameters);
}

driver_result cuGraphExecNodeSetParams(void *exec, void *node, struct driver_node *parameters) {
  driver_result result = REAL(cuGraphExecNodeSetParams)(exec, node, parameters);
  if (!parameters || parameters->type == DRIVER_NODE_GRAPH || parameters->type >= DRIVER_NODE_CONDITIONAL) {
    return changed(result, exec, node, NULL);
  }
  if (parameters->type != DRIVER_NODE_KERNEL) return result;
  return changed_kernel(result, exec, node, &parameters->of.kernel);
}

driver_result cuGraphExecChildGraphNodeSetParams(void *exec, void *node, void *child) {
  return changed(REAL(cuGraphExecChildGraphNodeSetParams)(exec, node, child), exec, node, NULL);
}

/* Nodes of the executable graph are now known by the handles of another graph: a change by the former is not found. */
static driver_result updated(driver_result result, void *handle, void *graph) {
  if (result == DRIVER_SUCCESS) keep(handle, read_graph(graph));
  return result;
}

driver_result cuGraphExecUpdate(void *exec, void *graph, void **error, int *update) {
  return updated(REAL(cuGraphExecUpdate)(exec, graph, error, update), exec, graph);
}
driver_result cuGraphExecUpdate_v2(void *exec, void *graph, void *info) {
  return updated(REAL(cuGraphExecUpdate_v2)(exec, graph, info), exec, graph);
}

static struct launch_request request_of(const struct node *node, void *exec, void *stream, bool per_thread) {
  struct launch_request request = {
      .function = node->function,
      .shared_bytes = node->shared_bytes,
      .stream = stream,
      .per_thread = per_thread,
      .packed = node->packed,
      .packed_bytes = node->packed_bytes,
      .graph_exec = exec,
      .graph_node = node->handle,
      .reason = node->reason,
  };
  memcpy(request.grid, node->grid, sizeof request.grid);
  memcpy(request.block, node->block, sizeof request.block);
  return request;
}

static bool share(const struct touched *a, const struct touched *b) {
  if (a->too_many || b->too_many) return true;
  for (size_t i = 0; i < a->count; i++) {
    for (size_t j = 0; j < b->count; j++) {
      if (a->starts[i] == b->starts[j]) return true;
    }
  }
  return false;
}

/* Kernels of the graph that may run at the same time and use the same allocation are not idempotent. */
static void find_concurrent(const struct exec *exec, struct launch_request *requests) {
  struct touched *touched = malloc(exec->count * sizeof *touched);
  for (size_t i = 0; touched && i < exec->count; i++) touch_launch(&requests[i], &touched[i]);
  for (size_t i = 0; i < exec->count; i++) {
    for (size_t j = 0; j < i; j++) {
      size_t a = exec->nodes[i].begin, b = exec->nodes[j].begin;
      if (is_before(exec, a, b) || is_before(exec, b, a) || (touched && !share(&touched[i], &touched[j]))) continue;
      requests[i].reason = requests[j].reason = SELVAGE_REASON_CONCURRENT;
    }
  }
  free(touched);
}

static void judge_graph(void *handle, void *stream, bool per_thread) {
  bool captured = is_captured(stream, per_thread);
  struct exec *exec = acquire(handle);
  size_t count = 0;
  struct launch_request *requests = NULL;
  bool complete = false;
  unsigned char *packed = NULL;
  if (exec) {
    /* A copy, so that nothing is locked while others are told. */
    pthread_mutex_lock(&exec->lock);
    size_t bytes = 0, at = 0;
    for (size_t i = 0; i < exec->count; i++) bytes += exec->nodes[i].packed_bytes + 1;
    requests = calloc(exec->count + 1, sizeof *requests);
    packed = malloc(bytes + 1);
    count = requests && packed ? exec->count : 0;
    complete = exec->complete && count == exec->count;
    for (size_t i = 0; i < count; i++) {
      const struct node *node = &exec->nodes[i];
      requests[i] = request_of(node, handle, stream, per_thread);
      if (node->packed) {
        memcpy(packed + at, node->packed, node->packed_bytes);
        requests[i].packed = packed + at;
        at += node->packed_bytes + 1;
      }
      if (!complete) requests[i].reason = SELVAGE_REASON_GRAPH;
    }
    if (complete && !exec->serial) find_concurrent(exec, requests);
    pthread_mutex_unlock(&exec->lock);
  }
  for (size_t i = 0; i < count; i++) {
    if (captured) requests[i].reason = SELVAGE_REASON_CAPTURED;
    judge_launch(&requests[i]);
  }
  if (!complete) {
    /* What is not listed. */
    judge_launch(&(struct launch_request){
        .grid = {1, 1, 1},
        .block = {1, 1, 1},
        .stream = stream,
        .per_thread = per_thread,
        .graph_exec = handle,
        .reason = captured ? SELVAGE_REASON_CAPTURED : SELVAGE_REASON_GRAPH,
    });
  }
  free(requests);
  free(packed);
  if (exec) release(exec);
}

driver_result cuGraphLaunch(void *exec, void *stream) {
  judge_graph(exec, stream, false);
  return REAL(cuGraphLaunch)(exec, stream);
}

driver_result cuGraphLaunch_ptsz(void *exec, void *stream) {
  judge_graph(exec, stream, true);
  return REAL(cuGraphLaunch_ptsz)(exec, stream);
}
