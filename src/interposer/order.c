#define _GNU_SOURCE
#include "order.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "map.h"
#include "resolve.h"

/* For each stream how many of its operations. */
struct clock {
  uint64_t at[STREAMS];
};

/* The default streams are known by their context, and by the thread where it has one of its own. */
struct name {
  uintptr_t handle;
  void *context;
  uint64_t thread;
};

struct stream {
  struct name name;
  bool used, destroyed;
  bool waits_for_legacy; /* created without CU_STREAM_NON_BLOCKING, in `context` */
  void *context;
  uint64_t count; /* of its operations */
  struct clock seen;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct stream streams[STREAMS];
static struct clock done;          /* what the host saw complete */
static struct users of_anything;   /* launches that may use any memory */
static bool lost;                  /* a launch was made in a stream for which there was no place */
static struct map events;          /* of struct clock */
static _Atomic unsigned captures;  /* streams that are being captured, or more */

static uint64_t thread_number(void) {
  static _Atomic uint64_t last;
  static _Thread_local uint64_t mine;
  if (!mine) mine = atomic_fetch_add(&last, 1) + 1;
  return mine;
}

static struct name name_of(void *stream, bool per_thread) {
  struct name name = {.handle = (uintptr_t)stream};
  if (!stream) name.handle = per_thread ? DRIVER_STREAM_PER_THREAD : DRIVER_STREAM_LEGACY;
  if (name.handle <= DRIVER_STREAM_PER_THREAD) {
    if (REAL(cuCtxGetCurrent)(&name.context) != DRIVER_SUCCESS) name.context = NULL;
    if (name.handle == DRIVER_STREAM_PER_THREAD) name.thread = thread_number();
  }
  return name;
}

static bool same(struct name a, struct name b) {
  return a.handle == b.handle && a.context == b.context && a.thread == b.thread;
}

static void join(struct clock *clock, const struct clock *other) {
  for (int i = 0; i < STREAMS; i++) {
    if (other->at[i] > clock->at[i]) clock->at[i] = other->at[i];
  }
}

/* Place of a stream, or -1. */
static int find_stream(struct name name) {
  for (int i = 0; i < STREAMS; i++) {
    if (streams[i].used && !streams[i].destroyed && same(streams[i].name, name)) return i;
  }
  return -1;
}

/*
 * Place of a stream; it gets one where it has none: one that is free, or of a stream whose operations are all complete. The
 * count of a place goes on, so that what was kept of the former stream stays true. -1: all places are in use.
 */
static int place_of(struct name name) {
  int place = find_stream(name);
  for (int pass = 0; pass < 3 && place < 0; pass++) {
    for (int i = 0; i < STREAMS && place < 0; i++) {
      bool idle = streams[i].count <= done.at[i];
      if (pass == 0 ? !streams[i].used : idle && (streams[i].destroyed || pass == 2)) place = i;
    }
    if (place < 0) continue;
    struct stream *stream = &streams[place];
    *stream = (struct stream){.name = name, .used = true, .count = stream->count, .context = name.context};
    stream->waits_for_legacy = name.handle == DRIVER_STREAM_PER_THREAD;
  }
  return place;
}

static void join_stream(struct clock *clock, int place) {
  join(clock, &streams[place].seen);
  if (streams[place].count > clock->at[place]) clock->at[place] = streams[place].count;
}

/* Begins a launch in a stream: the legacy default stream and the others of its context wait for each other. */
static void begin_launch(int place) {
  struct stream *stream = &streams[place];
  bool is_legacy = stream->name.handle == DRIVER_STREAM_LEGACY;
  for (int i = 0; (is_legacy || stream->waits_for_legacy) && i < STREAMS; i++) {
    const struct stream *other = &streams[i];
    if (i == place || !other->used || other->context != stream->context) continue;
    bool waits = is_legacy ? other->waits_for_legacy : other->name.handle == DRIVER_STREAM_LEGACY;
    if (waits) join_stream(&stream->seen, i);
  }
  stream->count++;
}

static bool is_pending(const struct user *user, int place) {
  if ((int)user->stream == place || user->count <= done.at[user->stream]) return false;
  return place < 0 || user->count > streams[place].seen.at[user->stream];
}

static void add_overlap(struct overlaps *overlaps, const struct user *user, struct selvage_range range) {
  void *handle = (void *)streams[user->stream].name.handle;
  for (size_t i = 0; i < overlaps->count; i++) {
    struct overlap *known = &overlaps->list[i];
    if (known->stream != handle) continue;
    if (user->launch_id > known->last_id) known->last_id = user->launch_id;
    return;
  }
  if (overlaps->count < STREAMS) {
    overlaps->list[overlaps->count++] = (struct overlap){handle, user->launch_id, range};
  }
}

struct entering {
  int place;
  uint64_t launch_id;
  struct overlaps *overlaps;
  bool concurrent, enters;
};

/* Looks for other streams among the users of something, and makes the launch one of them. */
static void use(struct users *users, struct entering *entering, struct selvage_range range) {
  unsigned kept = 0;
  entering->concurrent |= users->crowded;
  for (unsigned i = 0; i < users->count; i++) {
    const struct user *user = &users->list[i];
    if (is_pending(user, entering->place)) {
      entering->concurrent = true;
      add_overlap(entering->overlaps, user, range);
    }
    /* A later launch of the stream stands for the earlier ones. */
    bool later = entering->enters && (int)user->stream == entering->place;
    if (user->count > done.at[user->stream] && !later) users->list[kept++] = *user;
  }
  users->count = kept;
  if (!entering->enters) return;
  if (entering->place < 0 || kept == USERS) {
    users->crowded = true;
    return;
  }
  users->list[users->count++] = (struct user){
      .stream = (unsigned)entering->place,
      .count = streams[entering->place].count,
      .launch_id = entering->launch_id,
  };
}

static void use_allocation(struct allocation *allocation, void *context) {
  use(&allocation->users, context, (struct selvage_range){allocation->start, allocation->bytes});
}

static void uncrowd(struct allocation *allocation, void *context) {
  (void)context;
  allocation->users.crowded = false;
}

bool enter_launch(void *stream, bool per_thread, uint64_t launch_id, const struct touched *touched,
                  struct overlaps *overlaps) {
  struct name name = name_of(stream, per_thread);
  bool anything = touched->too_many;
  struct entering entering = {.launch_id = launch_id, .overlaps = overlaps, .enters = true};
  overlaps->count = 0;
  /* This lock is taken before that of the allocations, whose functions take no other. */
  pthread_mutex_lock(&lock);
  entering.place = place_of(name);
  if (entering.place >= 0) begin_launch(entering.place);
  else lost = true;
  entering.concurrent = lost;
  entering.enters = anything;
  use(&of_anything, &entering, (struct selvage_range){0, UINT64_MAX});
  entering.enters = !anything;
  visit_allocations(anything ? NULL : touched, use_allocation, &entering);
  pthread_mutex_unlock(&lock);
  return entering.concurrent;
}

bool is_captured(void *stream, bool per_thread) {
  int status = 0;
  if (atomic_load_explicit(&captures, memory_order_acquire) == 0) return false;
  driver_result result =
      per_thread ? REAL(cuStreamIsCapturing_ptsz)(stream, &status) : REAL(cuStreamIsCapturing)(stream, &status);
  /* The legacy stream cannot be asked while another stream is captured, and cannot be captured. */
  return result == DRIVER_SUCCESS && status != 0;
}

/* What a stream has before it and in it. */
static struct clock clock_of(struct name name) {
  struct clock clock = {{0}};
  pthread_mutex_lock(&lock);
  int place = find_stream(name);
  if (place >= 0) join_stream(&clock, place);
  pthread_mutex_unlock(&lock);
  return clock;
}

static void complete(const struct clock *clock) {
  pthread_mutex_lock(&lock);
  join(&done, clock);
  pthread_mutex_unlock(&lock);
}

static driver_result created(driver_result result, void **stream, unsigned flags) {
  if (result != DRIVER_SUCCESS || !stream || !*stream) return result;
  void *context = NULL;
  bool known = REAL(cuCtxGetCurrent)(&context) == DRIVER_SUCCESS && context;
  pthread_mutex_lock(&lock);
  int place = place_of((struct name){.handle = (uintptr_t)*stream});
  if (place >= 0) {
    streams[place].waits_for_legacy = known && (flags & DRIVER_STREAM_NON_BLOCKING) == 0;
    streams[place].context = context;
  }
  pthread_mutex_unlock(&lock);
  return result;
}

driver_result cuStreamCreate(void **stream, unsigned flags) {
  return created(REAL(cuStreamCreate)(stream, flags), stream, flags);
}

driver_result cuStreamCreateWithPriority(void **stream, unsigned flags, int priority) {
  return created(REAL(cuStreamCreateWithPriority)(stream, flags, priority), stream, flags);
}

static void destroy_stream(void *stream) {
  pthread_mutex_lock(&lock);
  int place = find_stream((struct name){.handle = (uintptr_t)stream});
  if (stream && place >= 0) streams[place].destroyed = true;
  pthread_mutex_unlock(&lock);
}

driver_result cuStreamDestroy(void *stream) {
  destroy_stream(stream);
  return REAL(cuStreamDestroy)(stream);
}

driver_result cuStreamDestroy_v2(void *stream) {
  destroy_stream(stream);
  return REAL(cuStreamDestroy_v2)(stream);
}

/* Calls the driver to see a stream complete. What comes into the stream meanwhile does not count. */
#define SEE_COMPLETE(name, stream, per_thread)                       \
  do {                                                               \
    struct clock before = clock_of(name_of(stream, per_thread));     \
    driver_result result = REAL(name)(stream);                       \
    if (result == DRIVER_SUCCESS) complete(&before);                 \
    return result;                                                   \
  } while (0)

driver_result cuStreamSynchronize(void *stream) { SEE_COMPLETE(cuStreamSynchronize, stream, false); }
driver_result cuStreamSynchronize_ptsz(void *stream) { SEE_COMPLETE(cuStreamSynchronize_ptsz, stream, true); }
driver_result cuStreamQuery(void *stream) { SEE_COMPLETE(cuStreamQuery, stream, false); }
driver_result cuStreamQuery_ptsz(void *stream) { SEE_COMPLETE(cuStreamQuery_ptsz, stream, true); }

/* What the streams of a context have in them; whether that is all of them. */
static bool clock_of_context(void *context, struct clock *clock) {
  bool all = true;
  memset(clock, 0, sizeof *clock);
  pthread_mutex_lock(&lock);
  for (int i = 0; i < STREAMS; i++) {
    if (!streams[i].used) continue;
    if (context && streams[i].context == context) join_stream(clock, i);
    else if (streams[i].count > done.at[i]) all = false;
  }
  pthread_mutex_unlock(&lock);
  return all;
}

static void complete_context(const struct clock *clock, bool all) {
  complete(clock);
  /* Launches in other streams may have been entered since: only what nothing else is pending beside is forgotten. */
  pthread_mutex_lock(&lock);
  for (int i = 0; all && i < STREAMS; i++) all = streams[i].count <= done.at[i];
  if (all && !lost) {
    of_anything.crowded = false;
    visit_allocations(NULL, uncrowd, NULL);
  }
  pthread_mutex_unlock(&lock);
}

driver_result cuCtxSynchronize(void) {
  struct clock before;
  void *context = NULL;
  if (REAL(cuCtxGetCurrent)(&context) != DRIVER_SUCCESS) context = NULL;
  bool all = clock_of_context(context, &before);
  driver_result result = REAL(cuCtxSynchronize)();
  if (result == DRIVER_SUCCESS) complete_context(&before, all);
  return result;
}

driver_result cuCtxSynchronize_v2(void *context) {
  struct clock before;
  bool all = clock_of_context(context, &before);
  driver_result result = REAL(cuCtxSynchronize_v2)(context);
  if (result == DRIVER_SUCCESS) complete_context(&before, all);
  return result;
}

/* Sets what an event stands for; NULL: nothing that is known. */
static void set_event(void *event, const struct clock *clock) {
  struct clock *copy = clock ? malloc(sizeof *copy) : NULL;
  if (copy) *copy = *clock;
  pthread_mutex_lock(&lock);
  free(copy ? map_put(&events, (uintptr_t)event, copy) : map_remove(&events, (uintptr_t)event));
  pthread_mutex_unlock(&lock);
}

static bool get_event(void *event, struct clock *clock) {
  pthread_mutex_lock(&lock);
  const struct clock *known = map_get(&events, (uintptr_t)event);
  if (known) *clock = *known;
  pthread_mutex_unlock(&lock);
  return known != NULL;
}

/* Before the driver records an event nobody may wait for what it stood for before, as if it stood for that still. */
static bool begin_record(void *event, void *stream, bool per_thread, struct clock *clock) {
  set_event(event, NULL);
  if (is_captured(stream, per_thread)) return false;
  *clock = clock_of(name_of(stream, per_thread));
  return true;
}

#define RECORD(name, per_thread, ...)                                \
  do {                                                               \
    struct clock before;                                             \
    bool runs = begin_record(event, stream, per_thread, &before);    \
    driver_result result = REAL(name)(__VA_ARGS__);                  \
    if (result == DRIVER_SUCCESS && runs) set_event(event, &before); \
    return result;                                                   \
  } while (0)

driver_result cuEventRecord(void *event, void *stream) { RECORD(cuEventRecord, false, event, stream); }
driver_result cuEventRecord_ptsz(void *event, void *stream) { RECORD(cuEventRecord_ptsz, true, event, stream); }
driver_result cuEventRecordWithFlags(void *event, void *stream, unsigned flags) {
  RECORD(cuEventRecordWithFlags, false, event, stream, flags);
}
driver_result cuEventRecordWithFlags_ptsz(void *event, void *stream, unsigned flags) {
  RECORD(cuEventRecordWithFlags_ptsz, true, event, stream, flags);
}

/* The operations of a stream from now on come after what an event stands for. */
static void wait_for(struct name name, const struct clock *clock) {
  pthread_mutex_lock(&lock);
  int place = place_of(name);
  if (place >= 0) {
    join(&streams[place].seen, clock);
    streams[place].count++;
  }
  pthread_mutex_unlock(&lock);
}

#define WAIT(name, per_thread)                                                                   \
  do {                                                                                           \
    struct clock clock;                                                                          \
    bool known = get_event(event, &clock) && !is_captured(stream, per_thread);                   \
    driver_result result = REAL(name)(stream, event, flags);                                     \
    if (result == DRIVER_SUCCESS && known) wait_for(name_of(stream, per_thread), &clock);        \
    return result;                                                                               \
  } while (0)

driver_result cuStreamWaitEvent(void *stream, void *event, unsigned flags) { WAIT(cuStreamWaitEvent, false); }
driver_result cuStreamWaitEvent_ptsz(void *stream, void *event, unsigned flags) { WAIT(cuStreamWaitEvent_ptsz, true); }

#define SEE_EVENT(name)                                     \
  do {                                                      \
    struct clock before;                                    \
    bool known = get_event(event, &before);                 \
    driver_result result = REAL(name)(event);               \
    if (result == DRIVER_SUCCESS && known) complete(&before); \
    return result;                                          \
  } while (0)

driver_result cuEventSynchronize(void *event) { SEE_EVENT(cuEventSynchronize); }
driver_result cuEventQuery(void *event) { SEE_EVENT(cuEventQuery); }

driver_result cuEventDestroy(void *event) {
  set_event(event, NULL);
  return REAL(cuEventDestroy)(event);
}

driver_result cuEventDestroy_v2(void *event) {
  set_event(event, NULL);
  return REAL(cuEventDestroy_v2)(event);
}

/* A capture counts from before it begins until after it ended. */
#define BEGIN(name, ...)                                        \
  do {                                                          \
    atomic_fetch_add(&captures, 1);                             \
    driver_result result = REAL(name)(__VA_ARGS__);             \
    if (result != DRIVER_SUCCESS) atomic_fetch_sub(&captures, 1); \
    return result;                                              \
  } while (0)

driver_result cuStreamBeginCapture(void *stream) { BEGIN(cuStreamBeginCapture, stream); }
driver_result cuStreamBeginCapture_ptsz(void *stream) { BEGIN(cuStreamBeginCapture_ptsz, stream); }
driver_result cuStreamBeginCapture_v2(void *stream, int mode) { BEGIN(cuStreamBeginCapture_v2, stream, mode); }
driver_result cuStreamBeginCapture_v2_ptsz(void *stream, int mode) {
  BEGIN(cuStreamBeginCapture_v2_ptsz, stream, mode);
}
driver_result cuStreamBeginCaptureToGraph(void *stream, void *graph, const void **dependencies, const void *data,
                                          size_t count, int mode) {
  BEGIN(cuStreamBeginCaptureToGraph, stream, graph, dependencies, data, count, mode);
}
driver_result cuStreamBeginCaptureToGraph_ptsz(void *stream, void *graph, const void **dependencies, const void *data,
                                               size_t count, int mode) {
  BEGIN(cuStreamBeginCaptureToGraph_ptsz, stream, graph, dependencies, data, count, mode);
}

/* Ending a capture takes a stream out of it also where it fails, unless nothing was captured. */
static void end_capture(bool was_captured) {
  unsigned count = atomic_load(&captures);
  while (was_captured && count > 0 && !atomic_compare_exchange_weak(&captures, &count, count - 1)) continue;
}

driver_result cuStreamEndCapture(void *stream, void **graph) {
  bool was_captured = is_captured(stream, false);
  driver_result result = REAL(cuStreamEndCapture)(stream, graph);
  end_capture(was_captured);
  return result;
}

driver_result cuStreamEndCapture_ptsz(void *stream, void **graph) {
  bool was_captured = is_captured(stream, true);
  driver_result result = REAL(cuStreamEndCapture_ptsz)(stream, graph);
  end_capture(was_captured);
  return result;
}
