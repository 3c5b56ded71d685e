/*
 * Which launches may run at the same time. Streams have vector clocks: an operation of a stream comes after those of other
 * streams that events, or the legacy default stream, order before it, and after all that the host saw complete. What is not
 * followed, such as copies and host functions that wait, makes launches look concurrent, never ordered.
 */
#ifndef SELVAGE_ORDER_H
#define SELVAGE_ORDER_H

#include "allocations.h"

#pragma GCC visibility push(hidden)

enum { STREAMS = 64 };

/* Launches of another stream that a launch may run beside. */
struct overlap {
  void *stream;
  uint64_t last_id;
  struct selvage_range allocation;
};

struct overlaps {
  struct overlap list[STREAMS];
  size_t count;
};

/*
 * Enters a launch that uses `touched`, or anything where that is not complete (`too_many`). True: it may run beside a launch of
 * another stream that uses the same allocation. Such launches are listed, one for each stream.
 */
bool enter_launch(void *stream, bool per_thread, uint64_t launch_id, const struct touched *touched,
                  struct overlaps *overlaps);

/* Whether a launch in a stream becomes a node of a graph instead of running. */
bool is_captured(void *stream, bool per_thread);

#pragma GCC visibility pop

#endif
